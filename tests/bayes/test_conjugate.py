"""The conjugate model: blocks, bound, scale step, evidence, Gibbs, limits and permutations."""

import re
import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from conjugate_reference import (
    direct_bound,
    draw,
    evidence_by_prior_draws,
    gibbs,
    log_joint,
    make_data,
    sample_covariances,
    some_priors,
)
from numpy.testing import assert_allclose
from scipy.stats import truncnorm

from multikernel.banks import FactoredBank, PackedBank
from multikernel.bayes.conjugate import (
    Design,
    Model,
    Priors,
    Schedule,
    active_kernels,
    elbo,
    fit_conjugate,
    joint,
    kept_kernels,
    prune,
)
from multikernel.bayes.conjugate.joint import update_a_and_G
from multikernel.bayes.conjugate.model import Gamma
from multikernel.bayes.conjugate.probit import score_mean
from multikernel.bayes.conjugate.prune import explained_share, pruned
from multikernel.bayes.conjugate.run import run
from multikernel.bayes.conjugate.scale_step import rescaled, scale_step
from multikernel.bayes.conjugate.start import first_factors, scattered_factors
from multikernel.bayes.conjugate.structured import update_a_structured
from multikernel.bayes.conjugate.sweep import kernel_sweep
from multikernel.bayes.conjugate.updates import (
    update_a,
    update_be,
    update_eps,
    update_G,
    update_gam,
    update_lam,
    update_omega,
    update_spread,
    update_ups,
)

MODELS = [
    (L, Model(outputs=outputs, targets=targets, tied=tied, structured=structured))
    for (L, targets), outputs, tied, structured in product(
        [(1, "real"), (3, "real"), (1, "sign"), (2, "sign"), (3, "onehot")],
        ["shared_weights", "shared_samples"],
        [False, True],
        [False, True],
    )
]
IDS = [
    f"{L}-{m.targets}-{m.outputs}{'-tied' * m.tied}{'-structured' * m.structured}"
    for L, m in MODELS
]
REAL = [(L, m) for L, m in MODELS if m.targets == "real"]
REAL_IDS = [name for name, (_, m) in zip(IDS, MODELS, strict=True) if m.targets == "real"]


def blocks(model, design, y):
    """Every update as a function of the factors, with its name."""
    single = {
        "lam": lambda q: update_lam(q, model),
        "ups": lambda q: update_ups(q, model),
        "gam": lambda q: update_gam(q, model),
        "omega": lambda q: update_omega(q, model),
        "eps": lambda q: update_eps(q, model),
        "be": lambda q: update_be(q, model),
        "G": lambda q: update_G(q, model),
    }
    if model.targets != "real":
        del single["eps"]
    steps = {name: (lambda q, n=name, u=u: replace(q, **{n: u(q)})) for name, u in single.items()}
    if model.structured:
        steps["a"] = lambda q: steps["G"](replace(q, a=update_a_structured(q, model, design)))
    else:
        steps["a"] = lambda q: replace(q, a=update_a(q, model, design))
        steps["a and G"] = lambda q: update_a_and_G(q, model, design, None)[0]
    steps["scale"] = lambda q: scale_step(q, model)
    steps["sweep"] = lambda q: kernel_sweep(q, model, y)
    return steps


def sample_sweep(q, model, design):
    """Precisions and sample weights, as the paper orders them."""
    q = replace(q, lam=update_lam(q, model))
    q = replace(q, ups=update_ups(q, model))
    return blocks(model, design, None)["a"](q)


def warm(rng, L, model, n=12, M=3, n_sweeps=3):
    """Factors after a few sweeps of the mean-field family and one of the model's own."""
    bank, grams, y = make_data(rng, n=n, M=M, L=L, targets=model.targets)
    model = replace(model, priors=some_priors(rng))
    design = Design.from_bank(bank)
    q = scattered_factors(design, model, y, rng, far=False)
    for _ in range(n_sweeps):
        q = sample_sweep(q, replace(model, structured=False), design)
        q = kernel_sweep(q, model, y)
    return sample_sweep(q, model, design), model, design, grams, y


@pytest.mark.parametrize(("L", "model"), MODELS, ids=IDS)
def test_the_bound_rises_after_every_block(L, model, rng):
    q, model, design, _, y = warm(rng, L, model)
    steps = list(blocks(model, design, y).items())
    value, gains = elbo(q, model, y), {name: [] for name, _ in steps}
    for k in rng.integers(len(steps), size=60):
        name, step = steps[k]
        if model.targets != "real":  # the bound is that at the best scores
            q = replace(q, f=score_mean(q.fitted, y, model.targets))
        q = step(q)
        new = elbo(q, model, y)
        gains[name].append(new - value)
        assert new >= value - 1e-11 * abs(new), name
        value = new
    assert all(max(g, default=1.0) > 0 for g in gains.values())  # no block is idle


@pytest.mark.parametrize(("L", "model"), REAL, ids=REAL_IDS)
def test_the_bound_equals_a_direct_evaluation(L, model, rng):
    q, model, design, grams, y = warm(rng, L, model, n=7)
    covs = sample_covariances(q, model, design)  # precisions as at the last update of a
    assert_allclose(elbo(q, model, y), direct_bound(q, model, grams, y, covs), rtol=1e-10)


@pytest.mark.parametrize(("L", "model"), REAL[::5], ids=REAL_IDS[::5])
def test_the_bound_is_the_expected_log_ratio(L, model, rng):
    """E_q[ln p(y, θ) − ln q(θ)] by Monte Carlo, with densities from scipy."""
    q, model, design, grams, y = warm(rng, L, model, n=6, M=2, n_sweeps=6)
    covs = sample_covariances(q, model, design)
    logs = np.empty(500)
    for k in range(len(logs)):
        values, log_q = draw(q, model, grams, covs, rng)
        logs[k] = log_joint(values, model, grams, y) - log_q
    error = logs.std() / np.sqrt(len(logs))
    assert error < 0.4
    assert abs(elbo(q, model, y) - logs.mean()) < 4 * error


def test_the_bound_of_labels_is_that_of_their_scores(rng):
    """With scores at their optimum, the bound equals the expected log ratio of all variables."""
    q, model, design, grams, y = warm(rng, 1, Model(targets="sign"), n=6, M=2, n_sweeps=6)
    covs = sample_covariances(q, model, design)
    m = q.fitted
    low, high = np.where(y > 0, -m, -np.inf), np.where(y > 0, np.inf, -m)
    plain = replace(model, targets="real", priors=replace(model.priors, alpha_epsilon=1.0))
    constant = -1.0 / plain.priors.beta_epsilon - np.log(plain.priors.beta_epsilon)
    logs = np.empty(800)
    for k in range(len(logs)):
        values, log_q = draw(q, model, grams, covs, rng)
        f = m + truncnorm.rvs(low, high, random_state=rng)
        log_q += truncnorm.logpdf(f - m, low, high).sum()
        logs[k] = log_joint(values, plain, grams, f) - constant - log_q
    assert abs(elbo(q, model, y) - logs.mean()) < 4 * logs.std() / np.sqrt(len(logs))


@pytest.mark.filterwarnings("ignore:the kernels explain")  # too few samples
@pytest.mark.parametrize("structured", [False, True])
def test_the_bound_lies_below_the_evidence(structured, rng):
    bank, grams, y = make_data(rng, n=5, M=2)
    model = Model(some_priors(rng), structured=structured)
    posterior = fit_conjugate(bank, y, model, Schedule(tol=1e-9, max_iter=2000))
    evidence, logs = evidence_by_prior_draws(model, grams, y[0], 6000, rng)
    weights = np.exp(logs - logs.max())
    assert weights.sum() ** 2 / np.sum(weights**2) > 50  # enough draws count
    assert evidence - (3.0 if structured else 8.0) < posterior.elbo < evidence


def test_the_structured_family_has_the_better_bound(rng):
    bank, _, y = make_data(rng, n=15, M=3)
    schedule = Schedule(tol=1e-8, max_iter=1000)
    plain = fit_conjugate(bank, y, Model(), schedule)
    better = fit_conjugate(bank, y, Model(structured=True), schedule)
    assert better.elbo > plain.elbo + 0.5


@pytest.mark.parametrize(("L", "model"), MODELS, ids=IDS)
def test_the_scale_step_is_the_maximiser(L, model, rng):
    q, model, _, _, y = warm(rng, L, model)
    best = scale_step(q, model)
    value = elbo(best, model, y)
    for c in (0.9, 0.999, 1.001, 1.1):
        assert elbo(rescaled(best, c), model, y) < value
    assert_allclose(best.fitted, q.fitted, rtol=1e-12, atol=1e-12)
    slope = elbo(rescaled(best, 1 + 1e-4), model, y) - elbo(rescaled(best, 1 - 1e-4), model, y)
    assert abs(slope / 2e-4) < 1e-4 * abs(value)


@pytest.mark.parametrize("outputs", ["shared_weights", "shared_samples"])
@pytest.mark.parametrize("targets", ["real", "sign"])
def test_runs_rise_and_rest(outputs, targets, rng):
    bank, _, y = make_data(rng, n=40, M=4, L=2, targets=targets)
    model = Model(outputs=outputs, targets=targets)
    posterior = fit_conjugate(bank, y, model, Schedule(tol=1e-8, max_iter=2000))
    assert posterior.converged
    history = posterior.history["elbo"]
    assert np.all(np.diff(history) >= -1e-10 * np.abs(history[1:]))
    assert posterior.elbo >= history[-1] - 1e-10 * abs(history[-1])
    plain = Design.from_bank(bank)
    q = first_factors(plain, model, y)
    for _ in range(1500):  # the plain sweeps of the paper, with the same fixed points
        q = kernel_sweep(sample_sweep(q, model, plain), model, y)
    assert posterior.elbo > elbo(q, model, y) - 1e-3 * abs(posterior.elbo)


def test_joint_means_solve_the_system_exactly_when_asked(rng, monkeypatch):
    monkeypatch.setattr(joint, "_MAX_STEPS", 60)
    monkeypatch.setattr(joint, "_REDUCTION", 1e-12)
    q, model, design, _, y = warm(rng, 2, Model())
    q = update_a_and_G(q, model, design, None)[0]
    again = replace(q, a=update_a(q, model, design))
    assert_allclose(again.a.mean, q.a.mean, rtol=1e-7, atol=1e-9)
    assert_allclose(again.a.var, q.a.var, rtol=1e-9)
    assert_allclose(again.a.trace_q, q.a.trace_q, rtol=1e-9)
    assert elbo(again, model, y) - elbo(q, model, y) < 1e-8


def test_old_covariances_cost_the_bound_no_more_than_the_slack(rng):
    q, model, design, _, y = warm(rng, 3, Model())
    q = replace(q, a=update_spread(q, model, design))
    near = np.array([1e-3, 0.1, 1.0])[:, None] * rng.normal(size=q.lam.scale.shape)
    q = replace(q, lam=Gamma(q.lam.shape, q.lam.scale * np.exp(near)))
    q = replace(q, ups=Gamma(q.ups.shape, q.ups.scale * np.exp([1e-3, 0.0, 0.0])))
    q = rescaled(q, 1.7)  # old and new precisions alike
    fresh = replace(q, a=update_spread(q, model, design))
    best, slack = elbo(fresh, model, y), 0.3
    loose = replace(q, a=update_spread(q, model, design, slack))
    kept = np.all(loose.a.var == q.a.var, axis=1)
    assert kept.tolist() == [True, True, False]
    assert 0 < best - elbo(loose, model, y) <= slack
    assert_allclose(loose.a.var[~kept], fresh.a.var[~kept], rtol=1e-12)
    assert not np.any(np.all(fresh.a.var == q.a.var, axis=1))
    Q, (lam, ups) = design.Q, loose.a.made_with  # those of the covariances, old or new
    covs = np.linalg.inv(ups[:, None, None] * Q + lam[:, :, None] * np.eye(len(Q)))
    assert_allclose(loose.a.var, np.einsum("oii->oi", covs), rtol=1e-8)
    assert_allclose(loose.a.trace_q, np.einsum("ij,oji->o", Q, covs), rtol=1e-8)


@pytest.mark.parametrize("tied", [False, True])
def test_moments_of_sample_weights_are_those_of_dense_algebra(tied, rng):
    q, model, design, grams, _ = warm(rng, 2, Model(tied=tied))
    cov = sample_covariances(q, model, design)
    S = np.einsum("mij,omj->oi", grams, q.G.mean)
    a = update_a(q, model, design)
    assert_allclose(a.mean, q.ups.mean[:, None] * np.einsum("oij,oj->oi", cov, S), rtol=1e-8)
    assert_allclose(a.log_det, np.linalg.slogdet(cov)[1], rtol=1e-8)
    assert_allclose(a.trace_q, np.einsum("ij,oji->o", design.Q, cov), rtol=1e-8)
    diagonals = np.einsum("oii->oi", cov)
    assert_allclose(a.var, diagonals.sum(1, keepdims=True) if tied else diagonals, rtol=1e-8)


def test_posterior_against_gibbs(rng):
    """Means of the predictor within the spread of the exact posterior; noise alike."""
    bank, grams, y = make_data(rng, n=14, M=2)
    y = (y - y.mean()) / y.std()
    model = Model(Priors(beta_epsilon=5.0), structured=True)
    posterior = fit_conjugate(bank, y, model, Schedule(tol=1e-8, max_iter=2000))
    draws = gibbs(model, grams, y[0], 4000, rng)
    exact, spread = draws.mean(0), draws.std(0)
    mean, var = posterior.predictor_moments(grams)
    latent = var[:, 0] - posterior.factors.ups.inverse_mean * np.sum(
        np.diagonal(posterior.factors.be.second[0])
    )
    assert np.all(np.abs(mean[:, 0] - exact[:-1]) < spread[:-1])
    assert np.sqrt(np.mean((mean[:, 0] - exact[:-1]) ** 2)) < 0.3 * spread[:-1].mean()
    assert 0.5 < np.sqrt(latent.mean()) / spread[:-1].mean() < 1.3
    assert 0.5 < posterior.factors.eps.mean[0] / exact[-1] < 2.0


def test_one_kernel_is_bayesian_ridge_in_its_columns(rng):
    r"""With G bound to K a and fixed e, targets are linear in the columns of the kernel."""
    n = 40
    x = np.sort(rng.uniform(-2, 2, n))
    K = np.exp(-((x[:, None] - x) ** 2))
    y = (np.sin(2 * x) + 0.2 * rng.normal(size=n))[None]
    y = (y - y.mean()) / y.std()
    tight = Priors(alpha_upsilon=1e9, beta_upsilon=1e-1, alpha_omega=1e6, beta_omega=1e-6)
    q = fit_conjugate(
        PackedBank.from_grams([K]), y, Model(tight, tied=True), Schedule(tol=1e-12, max_iter=4000)
    ).factors
    # the ridge whose strengths are the expected precisions at the optimum, with weight ẽ
    e, lam, eps = q.be.mean[0, 0], q.lam.mean[0, 0], q.eps.mean[0]
    scale = q.be.second[0, 0, 0]  # E[e²] stands in the precision, ẽ on the right-hand side
    a = np.linalg.solve(lam * np.eye(n) + eps * scale * K @ K, eps * e * K @ (y[0] - q.be.bias[0]))
    assert_allclose(q.fitted[0], e * K @ a + q.be.bias[0], atol=0.02)


@pytest.mark.parametrize("outputs", ["shared_weights", "shared_samples"])
def test_order_of_kernels_and_outputs_does_not_matter(outputs, rng):
    _, grams, y = make_data(rng, n=25, M=4, L=3)
    order, swap = np.array([2, 0, 3, 1]), np.array([1, 2, 0])
    model, schedule = Model(outputs=outputs), Schedule(tol=1e-9, max_iter=3000)
    first = fit_conjugate(PackedBank.from_grams(grams), y, model, schedule)
    other = fit_conjugate(PackedBank.from_grams(grams[order]), y[swap], model, schedule)
    assert_allclose(first.elbo, other.elbo, rtol=1e-6)
    e, f = first.factors.be.mean, other.factors.be.mean
    assert_allclose(
        np.abs(e[..., order] if len(e) == 1 else e[swap][:, order]), np.abs(f), atol=5e-3
    )
    assert_allclose(first.factors.fitted[swap], other.factors.fitted, atol=5e-3)


def test_banks_agree(rng):
    Zs = [rng.normal(size=(30, 2)) for _ in range(3)]
    y = rng.normal(size=(1, 30))
    schedule = Schedule(tol=1e-9, max_iter=500)
    packed = PackedBank.from_grams([Z @ Z.T for Z in Zs])
    runs = [fit_conjugate(bank, y, Model(), schedule) for bank in (packed, FactoredBank(Zs))]
    assert_allclose(runs[0].elbo, runs[1].elbo, rtol=1e-8)
    assert_allclose(runs[0].factors.be.mean, runs[1].factors.be.mean, atol=1e-5)


def test_restarts_keep_the_best_and_are_seeded(rng):
    bank, _, y = make_data(rng, n=25, M=4)
    model, schedule = Model(Priors.for_sparsity("both")), Schedule(tol=1e-5, max_iter=2000)
    one = fit_conjugate(bank, y, model, schedule)
    runs = [fit_conjugate(bank, y, model, schedule, 3, np.random.default_rng(5)) for _ in range(2)]
    assert runs[0].elbo == runs[1].elbo
    assert runs[0].elbo >= one.elbo - 1e-9 * abs(one.elbo)


def test_vanished_weights_are_no_answer_where_another_family_has_the_larger_bound(rng):
    bank, _, y = make_data(rng, n=25, M=4)
    model, schedule = Model(Priors.for_sparsity("both")), Schedule(tol=1e-5, max_iter=2000)
    design = Design.from_bank(bank)
    empty = run(design, model, y, schedule, first_factors(design, model, y))
    assert explained_share(empty.q) < 1e-10
    assert len(active_kernels(empty.q)) == 0
    posterior = fit_conjugate(bank, y, model, schedule)
    assert posterior.model.structured
    assert posterior.elbo > empty.bound + 1
    assert explained_share(posterior.factors) > 0.5
    assert 0 in active_kernels(posterior.factors)


def test_random_starts_have_the_units_of_the_targets(rng):
    bank, _, y = make_data(rng, n=25, M=4, L=2)
    design = Design.from_bank(bank)
    for far in (True, False):
        one, other = (
            scattered_factors(design, Model(), scale * y, np.random.default_rng(0), far=far)
            for scale in (1.0, 100.0)
        )
        assert_allclose(other.G.mean, 100 * one.G.mean)
        assert_allclose(other.be.mean, one.be.mean)


@pytest.mark.parametrize(
    ("change", "moved", "said", "not_said"),
    [
        (1e-9, 1e-2, r"while predictions \(relative change 1.0e-02 > sqrt", "the bound"),
        (1e-2, 1e-9, r"while the bound \(relative change 1.0e-02 > tol=1.0e-06\)", "predictions"),
        (1e-2, 1e-2, r"the bound .* and predictions", "warm-up"),
        (1e-9, 1e-9, "the warm-up of structured inference", "predictions"),
    ],
)
def test_only_what_still_moves_is_said(change, moved, said, not_said, rng):
    bank, _, y = make_data(rng)
    design, schedule = Design.from_bank(bank), Schedule(max_iter=2)
    found = run(design, Model(), y, schedule, first_factors(design, Model(), y))
    text = replace(found, change=change, moved=moved).unrest(schedule)
    assert re.search(said, text)
    assert not_said not in text


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize(("L", "outputs"), [(6, "shared_weights"), (6, "shared_samples")])
def test_peak_memory(L, outputs, structured, rng):
    n = 300
    bank, _, y = make_data(rng, n=n, M=3, L=L)
    n_sets = L if outputs == "shared_weights" else 1
    model = Model(outputs=outputs, structured=structured)
    fit_conjugate(bank, y, model, Schedule(max_iter=1))  # what is imported late is not counted
    tracemalloc.start()
    fit_conjugate(bank, y, model, Schedule(tol=1e-12, max_iter=9))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n**2 * (n_sets + 6)


def test_preconditioners_in_single_precision_lead_to_the_same_optimum(rng, monkeypatch):
    bank, _, y = make_data(rng, n=50, M=3, L=2)
    model, schedule = Model(), Schedule(tol=1e-8, max_iter=2000)
    single = fit_conjugate(bank, y, model, schedule)
    monkeypatch.setattr(np, "float32", np.float64)
    double = fit_conjugate(bank, y, model, schedule)
    assert_allclose(single.elbo, double.elbo, rtol=1e-6)
    assert single.n_iter < 1.3 * double.n_iter


def test_a_preconditioner_that_fails_is_diagonal(rng):
    q, _, design, _, _ = warm(rng, 2, Model())
    P = joint.Preconditioner(*q.a.mean.shape)
    broken = replace(design, Q=np.full(design.Q.shape, 1e6) - 1e6 * np.eye(len(design.Q)))
    P.renew(q.lam.mean, np.tile([1.0, 0.01, 0.01], (2, 1)), np.eye(3), broken)
    assert_allclose(P.factors[0], np.eye(len(design.Q)))
    assert np.all(P.scales > 0)


def test_proper_priors_have_one_optimum(rng):
    bank, _, y = make_data(rng, n=20, M=3)
    schedule = Schedule(tol=1e-11, max_iter=5000)
    design = Design.from_bank(bank)
    starts = [first_factors(design, Model(), y)] + [
        scattered_factors(design, Model(), y, rng, far=far) for far in (True, False, True)
    ]
    bounds = [run(design, Model(), y, schedule, start).bound for start in starts]
    assert_allclose(bounds, bounds[0], rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("outputs", ["shared_weights", "shared_samples"])
def test_pruning_drops_what_does_not_matter_and_goes_on_rising(
    structured, outputs, rng, monkeypatch
):
    monkeypatch.setattr(prune, "NEGLIGIBLE", 1e-3)  # else the structured family needs long runs
    _, grams, y = make_data(rng, n=30, M=3, L=2)
    bank = PackedBank.from_grams(grams)
    model = Model(Priors.for_sparsity("both"), outputs=outputs, structured=structured)
    posterior = fit_conjugate(bank, y, model, Schedule(tol=1e-12, max_iter=300, prune=True))
    h = posterior.history
    same = (np.diff(h["n_kernels"]) == 0) & (np.diff(h["n_samples"]) == 0)
    assert np.all(np.diff(h["elbo"])[same] >= -1e-10 * np.abs(h["elbo"][1:][same]))
    assert len(posterior.samples) < 30
    assert len(posterior.samples) == h["n_samples"][-1]
    assert len(posterior.kernels) == h["n_kernels"][-1]
    rows = np.ix_(posterior.kernels, posterior.samples, np.arange(30))
    a, Ka = posterior.factors.a, np.einsum("mji,oj->omi", grams[rows], posterior.factors.a.mean)
    assert_allclose(a.Ka, Ka, atol=1e-9 * np.abs(Ka).max())


def test_pruned_design_equals_a_new_one(rng):
    q, model, design, grams, y = warm(rng, 1, Model(), n=10, M=4)
    q = replace(q, be=replace(q.be, mean=np.array([[1.0, 1e-5, 0.1, 1.0]]), cov=q.be.cov * 0))
    q2, smaller = pruned(q, model, design)
    assert smaller.kernels.tolist() == [0, 2, 3] == kept_kernels(q).tolist()
    fresh = Design.from_bank(PackedBank.from_grams(grams[[0, 2, 3]]))
    rows = np.ix_(smaller.samples, smaller.samples)
    assert_allclose(smaller.Q, fresh.Q[rows], rtol=1e-10)
    assert np.isfinite(elbo(q2, model, y))


@pytest.mark.filterwarnings("ignore:the kernels explain")  # too few samples
@pytest.mark.parametrize(("n", "M", "L"), [(2, 1, 1), (3, 5, 2), (40, 1, 1), (7, 9, 3)])
def test_shapes(n, M, L, rng):
    bank, _, y = make_data(rng, n=n, M=M, L=L)
    for outputs in ("shared_weights", "shared_samples"):
        posterior = fit_conjugate(bank, y, Model(outputs=outputs), Schedule(tol=1e-3, max_iter=300))
        assert np.isfinite(posterior.elbo)
        mean, var = posterior.predictor_moments(np.ones((M, 4, n)))
        assert mean.shape == var.shape == (4, L)


def test_a_kernel_of_zeros_gets_no_weight(rng):
    _, grams, y = make_data(rng, n=25, M=2)
    bank = PackedBank.from_grams(np.concatenate([grams, np.zeros((1, 25, 25))]))
    posterior = fit_conjugate(bank, y, Model(), Schedule(tol=1e-8, max_iter=2000))
    assert abs(posterior.factors.be.mean[0, 2]) < 0.05 * np.abs(posterior.factors.be.mean).max()


def test_priors_by_words_and_names():
    assert Priors.for_sparsity("both").alpha_lambda == 1e-10
    assert Priors.for_sparsity("samples", beta_lambda=7.0).beta_lambda == 7.0
    assert Priors.for_sparsity("samples").alpha_omega == 1.0
    with pytest.raises(ValueError, match="sparsity must be one of"):
        Priors.for_sparsity("some")
    with pytest.raises(ValueError, match="no 'alpha_mu'; it has: alpha_lambda"):
        Priors.for_sparsity("none", alpha_mu=1.0)
    with pytest.raises(ValueError, match="beta_omega must be a positive number, got 0"):
        Priors(beta_omega=0.0).check()
