"""The conjugate model written out slowly: densities, a direct bound, Monte Carlo and Gibbs."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import gamma, multivariate_normal, norm

from multikernel.banks import PackedBank
from multikernel.bayes.conjugate import Priors
from multikernel.bayes.conjugate.updates import intermediate_covariance


def make_data(rng, n=12, M=3, L=1, targets="real"):
    """A bank of random kernels, its square matrices, and targets of shape (L, n)."""
    X = rng.normal(size=(n, M))
    grams = np.stack([np.exp(-((X[:, [m]] - X[:, m]) ** 2) * (1 + m)) for m in range(M)])
    y = np.sin(2 * X[:, :1].T) + rng.normal(size=(L, n)) * 0.3 + rng.normal(size=(L, 1))
    if targets == "sign":
        y = np.where(y - np.median(y, axis=1, keepdims=True) > 0, 1.0, -1.0)
    if targets == "onehot":
        y = np.eye(L)[rng.integers(L, size=n)].T
    return PackedBank.from_grams(grams), grams, y


def some_priors(rng):
    """Priors away from one, so that a wrong use of any of them shows."""
    names = [
        f"{a}_{x}"
        for a in ("alpha", "beta")
        for x in ("lambda", "upsilon", "gamma", "omega", "epsilon")
    ]
    return Priors(**dict(zip(names, rng.uniform(0.6, 2.5, size=10).tolist(), strict=True)))


def sample_covariances(q, model, design):
    """Dense covariances of the sample weights at the precisions of the factors, (La, D, D)."""
    lam, ups = np.broadcast_to(q.lam.mean, q.a.mean.shape), q.ups.mean
    if not model.structured:
        return np.stack(
            [np.linalg.inv(np.diag(v) + u * design.Q) for v, u in zip(lam, ups, strict=True)]
        )
    V, s = intermediate_covariance(q, model)
    out = []
    for o, u in enumerate(ups):
        A = np.diag(lam[o]).astype(float)
        curvature = u * np.eye(len(V)) - u**2 * (V * s[o]) @ V.T
        Ks = np.stack([design.bank.combine(unit) for unit in np.eye(len(V))])
        A += np.einsum("ml,mik,ljk->ij", curvature, Ks, Ks)
        out.append(np.linalg.inv(A))
    return np.stack(out)


def draw(q, model, grams, covs, rng):
    """One draw of all variables from the factors, and the log-density of the draw."""
    values, log_q = {}, 0.0
    for name in ("lam", "ups", "gam", "omega", "eps"):
        f = getattr(q, name)
        if name == "eps" and model.targets != "real":
            values[name] = np.ones_like(f.scale)
            continue
        values[name] = rng.gamma(f.shape, f.scale)
        log_q += gamma.logpdf(values[name], f.shape, scale=f.scale).sum()
    La, M, n = q.G.mean.shape
    a, G = np.empty(q.a.mean.shape), np.empty(q.G.mean.shape)
    for o in range(La):
        a[o] = rng.multivariate_normal(q.a.mean[o], covs[o])
        log_q += multivariate_normal.logpdf(a[o], q.a.mean[o], covs[o])
        Sg = (q.G.basis * q.G.spectrum[o]) @ q.G.basis.T
        mean = q.G.mean[o]
        if model.structured:
            lead = (q.G.basis * q.G.gain[o]) @ q.G.basis.T
            mean = mean + lead @ (grams @ (a[o] - q.a.mean[o]))
        G[o] = mean + np.linalg.cholesky(Sg) @ rng.normal(size=(M, n))
        log_q += multivariate_normal.logpdf((G[o] - mean).T, np.zeros(M), Sg).sum()
    values["a"], values["G"] = a, G
    mean, cov = joint_weights(q, model)
    draws = [rng.multivariate_normal(m, c) for m, c in zip(mean, cov, strict=True)]
    log_q += sum(
        multivariate_normal.logpdf(d, m, c) for d, m, c in zip(draws, mean, cov, strict=True)
    )
    L = len(q.be.bias)
    if model.outputs == "shared_samples":
        values["b"], values["e"] = np.array([d[0] for d in draws]), np.stack([d[1:] for d in draws])
    else:
        values["b"], values["e"] = draws[0][:L], draws[0][None, L:]
    return values, log_q


def joint_weights(q, model):
    """Means and covariances of (b, e), whole: one block, or one per output."""
    be, L = q.be, len(q.be.bias)
    if model.outputs == "shared_samples":
        means = [np.r_[be.bias[o], be.mean[o]] for o in range(L)]
        covs = [
            np.block([[be.bias_var[o], be.bias_cov[o]], [be.bias_cov[o][:, None], be.cov[o]]])
            for o in range(L)
        ]
        return means, covs
    # biases are independent given e: cov(b, b') = cov(b, e) cov(e)⁻¹ cov(e, b') off the diagonal
    between = be.bias_cov @ np.linalg.solve(be.cov[0], be.bias_cov.T)
    between[np.diag_indices(L)] = be.bias_var
    cov = np.block([[between, be.bias_cov], [be.bias_cov.T, be.cov[0]]])
    return [np.r_[be.bias, be.mean[0]]], [cov]


def log_joint(v, model, grams, y):
    """Log-density of numbers y and of all variables."""
    p = model.priors
    total = gamma.logpdf(v["lam"], p.alpha_lambda, scale=p.beta_lambda).sum()
    total += gamma.logpdf(v["ups"], p.alpha_upsilon, scale=p.beta_upsilon).sum()
    total += gamma.logpdf(v["gam"], p.alpha_gamma, scale=p.beta_gamma).sum()
    total += gamma.logpdf(v["omega"], p.alpha_omega, scale=p.beta_omega).sum()
    total += gamma.logpdf(v["eps"], p.alpha_epsilon, scale=p.beta_epsilon).sum()
    total += norm.logpdf(v["a"], 0, 1 / np.sqrt(v["lam"])).sum()
    Ka = np.einsum("mij,oj->omi", grams, v["a"])
    total += norm.logpdf(v["G"], Ka, 1 / np.sqrt(v["ups"])[:, None, None]).sum()
    total += norm.logpdf(v["b"], 0, 1 / np.sqrt(v["gam"])).sum()
    total += norm.logpdf(v["e"], 0, 1 / np.sqrt(v["omega"])).sum()
    f = (v["e"][:, None] @ v["G"])[:, 0] + v["b"][:, None]
    return total + norm.logpdf(y, f, 1 / np.sqrt(v["eps"])[:, None]).sum()


def evidence_by_prior_draws(model, grams, y, n_draws, rng):
    """Log evidence of one output by simple Monte Carlo, G and b integrated out exactly."""
    p, (M, n, _) = model.priors, grams.shape
    logs = np.empty(n_draws)
    for k in range(n_draws):
        lam = rng.gamma(p.alpha_lambda, p.beta_lambda, size=n)
        ups, gam = (
            rng.gamma(p.alpha_upsilon, p.beta_upsilon),
            rng.gamma(p.alpha_gamma, p.beta_gamma),
        )
        eps = rng.gamma(p.alpha_epsilon, p.beta_epsilon)
        e = rng.normal(size=M) / np.sqrt(rng.gamma(p.alpha_omega, p.beta_omega, size=M))
        K = np.tensordot(e, grams, axes=1)
        cov = (K / lam) @ K.T + (e @ e / ups + 1 / eps) * np.eye(n) + 1 / gam
        logs[k] = multivariate_normal.logpdf(y, np.zeros(n), cov)
    return logsumexp(logs) - np.log(n_draws), logs


def gibbs(model, grams, y, n_draws, rng, burn=500):
    """Draws of (predictor at the training samples, noise precision) of one output."""
    p, (M, n, _) = model.priors, grams.shape
    Q = np.einsum("mij,mjk->ik", grams, grams)
    a, e, b, eps, ups = np.zeros(n), np.full(M, 1.0 / M), 0.0, 1.0, 1.0
    G = np.repeat(y[None], M, axis=0)
    lam, omega, gam = np.ones(n), np.ones(M), 1.0
    kept = []

    def gauss(P, h):
        L = np.linalg.cholesky(P)
        return np.linalg.solve(L.T, np.linalg.solve(L, h) + rng.normal(size=len(h)))

    for t in range(n_draws + burn):
        lam = rng.gamma(p.alpha_lambda + 0.5, 1 / (1 / p.beta_lambda + a**2 / 2))
        R = np.sum((G - grams @ a) ** 2)
        ups = rng.gamma(p.alpha_upsilon + n * M / 2, 1 / (1 / p.beta_upsilon + R / 2))
        a = gauss(np.diag(lam) + ups * Q, ups * np.einsum("mij,mj->i", grams, G))
        P = ups * np.eye(M) + eps * np.outer(e, e)
        H = ups * (grams @ a) + eps * np.outer(e, y - b)
        L = np.linalg.cholesky(P)
        G = np.linalg.solve(L.T, np.linalg.solve(L, H) + rng.normal(size=H.shape))
        gam = rng.gamma(p.alpha_gamma + 0.5, 1 / (1 / p.beta_gamma + b**2 / 2))
        omega = rng.gamma(p.alpha_omega + 0.5, 1 / (1 / p.beta_omega + e**2 / 2))
        T = np.sum((y - e @ G - b) ** 2)
        eps = rng.gamma(p.alpha_epsilon + n / 2, 1 / (1 / p.beta_epsilon + T / 2))
        Z = np.vstack([np.ones(n), G])
        be = gauss(np.diag(np.r_[gam, omega]) + eps * Z @ Z.T, eps * Z @ y)
        b, e = be[0], be[1:]
        if t >= burn:
            kept.append(np.r_[e @ (grams @ a) + b, eps])
    return np.array(kept)


def direct_bound(q, model, grams, y, covs):
    """The bound from dense moments, sample by sample, with entropies from scipy."""
    p, (La, M, n), L = model.priors, q.G.mean.shape, len(y)
    total = 0.0
    for f, name in (
        (q.lam, "lambda"),
        (q.ups, "upsilon"),
        (q.gam, "gamma"),
        (q.omega, "omega"),
        (q.eps, "epsilon"),
    ):
        shape, scale = getattr(p, f"alpha_{name}"), getattr(p, f"beta_{name}")
        logs = digamma(f.shape) + np.log(f.scale)
        total += np.sum((shape - 1) * logs - f.shape * f.scale / scale)
        total -= logs.size * (gammaln(shape) + shape * np.log(scale))
        total += np.sum(gamma(f.shape, scale=f.scale).entropy())
    log = {x: digamma(f.shape) + np.log(f.scale) for x, f in vars(q).items() if hasattr(f, "scale")}
    mean_e, mean_b = np.broadcast_to(q.be.mean, (L, M)), q.be.bias
    lam, log_lam = (np.broadcast_to(v, q.a.mean.shape) for v in (q.lam.mean, log["lam"]))
    spreads = np.empty((La, n, M, M))
    for o in range(La):
        a, S = q.a.mean[o], covs[o]
        second = a**2 + np.diag(S)
        total += 0.5 * np.sum(log_lam[o] - np.log(2 * np.pi) - lam[o] * second)
        total += multivariate_normal(a, S).entropy()
        Sg = (q.G.basis * q.G.spectrum[o]) @ q.G.basis.T
        total += n * multivariate_normal(np.zeros(M), Sg).entropy()
        lead = np.zeros((M, M))
        if model.structured:
            lead = (q.G.basis * q.G.gain[o]) @ q.G.basis.T
        for i in range(n):
            Ki = grams[:, :, i]  # rows are kernels
            between = Ki @ S @ Ki.T
            spreads[o, i] = Sg + lead @ between @ lead.T
            left = (lead - np.eye(M)) @ between @ (lead - np.eye(M)).T
            R = np.sum((q.G.mean[o, :, i] - Ki @ a) ** 2) + np.trace(Sg) + np.trace(left)
            total += 0.5 * (M * (log["ups"][o] - np.log(2 * np.pi)) - q.ups.mean[o] * R)
    means, covs_be = joint_weights(q, model)
    total += sum(multivariate_normal(m, c).entropy() for m, c in zip(means, covs_be, strict=True))
    total += 0.5 * np.sum(log["omega"] - np.log(2 * np.pi) - q.omega.mean * q.be.squares)
    for o in range(L):
        b2 = mean_b[o] ** 2 + q.be.bias_var[o]
        total += 0.5 * (log["gam"][o] - np.log(2 * np.pi) - q.gam.mean[o] * b2)
        cov_e = q.be.cov[o % len(q.be.cov)]
        for i in range(n):
            g, C = q.G.mean[o % La, :, i], spreads[o % La, i]
            fitted = mean_e[o] @ g + mean_b[o]
            var = g @ cov_e @ g + 2 * q.be.bias_cov[o] @ g + q.be.bias_var[o]
            var += np.trace((np.outer(mean_e[o], mean_e[o]) + cov_e) @ C)
            T = (y[o, i] - fitted) ** 2 + var
            total += 0.5 * (log["eps"][o] - np.log(2 * np.pi) - q.eps.mean[o] * T)
    return total


def draw_predictor(posterior, Ks, n_draws, rng):
    """Draws of the predictor at queries, shape (n_draws, L, n_queries)."""
    q, L = posterior.factors, len(posterior.factors.be.bias)
    ups = rng.gamma(q.ups.shape, q.ups.scale, size=(n_draws, len(q.ups.scale)))
    a = np.stack(
        [
            rng.multivariate_normal(m, np.linalg.inv(F @ F.T), size=n_draws)
            for m, F in zip(q.a.mean, posterior.precision_factors, strict=True)
        ],
        axis=1,
    )
    g = np.einsum("mqj,soj->somq", Ks, a)
    g = g + rng.normal(size=g.shape) / np.sqrt(ups)[:, :, None, None]
    means, covs = joint_weights(q, posterior.model)
    be = [rng.multivariate_normal(m, c, size=n_draws) for m, c in zip(means, covs, strict=True)]
    if posterior.model.outputs == "shared_samples":
        b, e = np.stack([d[:, 0] for d in be], 1), np.stack([d[:, 1:] for d in be], 1)
    else:
        b, e = be[0][:, :L], be[0][:, None, L:]
    return (e[:, :, None] @ g)[:, :, 0] + b[:, :, None]
