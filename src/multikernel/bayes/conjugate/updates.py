r"""The updates of the mean-field family: every factor in closed form, given the others.

Each function returns the factor that maximises the evidence bound in its block ([G12]_, Section 3
and 4, with all second moments of the factors; two of the printed updates lack them).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri

from ..._component import Array
from ..._linalg import mirror
from .design import Design
from .model import Factors, Gamma, Intermediate, Model, SampleWeights, Weights


def update_lam(q: Factors, model: Model) -> Gamma:
    r"""Precisions of the sample weights, one each or one for all."""
    p, n_each = model.priors, q.a.mean.shape[1] if model.tied else 1
    shape = np.full(q.lam.shape.shape, p.alpha_lambda + n_each / 2)
    return Gamma(shape, 1 / (1 / p.beta_lambda + q.a.second / 2))  # 1/β = 1/β₀ + ½E[a²]


def update_ups(q: Factors, model: Model) -> Gamma:
    r"""Precisions of the intermediate outputs."""
    p, size = model.priors, q.G.mean[0].size
    shape = np.full(len(q.a.mean), p.alpha_upsilon + size / 2)
    return Gamma(shape, 1 / (1 / p.beta_upsilon + residual(q) / 2))  # 1/β = 1/β₀ + ½R


def update_gam(q: Factors, model: Model) -> Gamma:
    r"""Precisions of the biases."""
    p = model.priors
    shape = np.full(len(q.be.bias), p.alpha_gamma + 0.5)
    return Gamma(shape, 1 / (1 / p.beta_gamma + q.be.bias_second / 2))  # 1/β = 1/β₀ + ½E[b²]


def update_omega(q: Factors, model: Model) -> Gamma:
    r"""Precisions of the kernel weights."""
    p = model.priors
    shape = np.full(q.be.mean.shape, p.alpha_omega + 0.5)
    return Gamma(shape, 1 / (1 / p.beta_omega + q.be.squares / 2))  # 1/β = 1/β₀ + ½E[e²]


def update_eps(q: Factors, model: Model) -> Gamma:
    r"""Precisions of the targets."""
    p, n = model.priors, q.f.shape[1]
    shape = np.full(len(q.f), p.alpha_epsilon + n / 2)
    return Gamma(shape, 1 / (1 / p.beta_epsilon + misfit(q) / 2))  # 1/β = 1/β₀ + ½T


def residual(q: Factors) -> Array:
    r"""The sums R of :math:`E\|g_i - K_i^\top a\|^2` over samples, shape (La,).

    Notes
    -----
    In the structured family :math:`R = \sum_i\|\tilde g_i - K_i^\top \tilde a\|^2
    + n \operatorname{tr} \Sigma_g + \operatorname{tr}(B X B)`, :math:`B = \upsilon \Sigma_g - I`.
    """
    gap = q.G.mean - q.a.Ka
    R = np.einsum("omi,omi->o", gap, gap)
    if q.a.X is None or q.G.gain is None:
        return np.asarray(R + q.G.spread() + q.a.trace_q)
    R = R + q.G.mean.shape[2] * q.G.spectrum.sum(axis=1)
    rotated = np.sum(q.G.basis * (q.a.X @ q.G.basis), axis=1)  # diagonals of VᵀXV
    return np.asarray(R + np.sum((q.G.gain - 1) ** 2 * rotated, axis=1))


def misfit(q: Factors) -> Array:
    r"""The sums T of :math:`E(y_i - e^\top g_i - b)^2` over samples, shape (L,)."""
    return np.asarray(np.sum((q.f - q.fitted) ** 2, axis=1) + predictor_spread(q))


def predictor_spread(q: Factors) -> Array:
    r"""The sums over samples of the variances of :math:`e^\top g_i + b`, shape (L,)."""
    G, be, n = q.G, q.be, q.f.shape[1]
    spread = G.inner(be.second)  # tr(Cov[g] E[eeᵀ])
    spread = spread + np.einsum("omi,omi->o", be.cov @ G.mean, G.mean)  # g̃ᵀ Cov[e] g̃
    spread = spread + 2 * np.sum(be.bias_cov * G.mean.sum(axis=2), axis=1)  # 2 Cov[b, e]ᵀ g̃
    return np.asarray(spread + n * be.bias_var)


def update_a(q: Factors, model: Model, design: Design) -> SampleWeights:
    r"""Sample weights: :math:`\Sigma = (\Lambda + \upsilon Q)^{-1}, \tilde a = \upsilon \Sigma s`.

    Here :math:`s = \sum_m K_m \tilde g^m`. Only the diagonal of the covariance is formed.
    """
    S = design.collect(q.G.mean)
    moments = _tied_moments if model.tied else _free_moments
    lam, ups = q.lam.mean, q.ups.mean
    mean, var, log_det = moments(S, lam, ups, design)
    return SampleWeights(mean, var, log_det, _trace_q(var, lam, ups, design), design.apply(mean))


def update_spread(q: Factors, model: Model, design: Design, slack: float = 0.0) -> SampleWeights:
    r"""Sample weights with new covariances, where old ones would cost the bound more than slack.

    Notes
    -----
    Covariances made with other precisions :math:`\lambda', \upsilon'` make a factor, too, only not
    the best. As posteriors are no farther apart than joint models, one of them costs at most

    .. math:: \textstyle\sum_i \kappa(\lambda_i / \lambda_i') + D\, \kappa(\upsilon / \upsilon'),
              \qquad \kappa(x) = \tfrac12 (x - 1 - \ln x) .
    """
    lam, ups, old = q.lam.mean, q.ups.mean, q.a.made_with
    stale = np.ones(len(ups), dtype=bool)
    if old is not None and not model.tied:
        x, u = lam / old[0], ups / old[1]
        lost = np.sum(x - 1 - np.log(x), axis=1) + lam.shape[1] * (u - 1 - np.log(u))
        stale = lost / 2 > slack / len(ups)
        lam, ups = np.where(stale[:, np.newaxis], lam, old[0]), np.where(stale, ups, old[1])
    moments = _tied_moments if model.tied else _free_moments
    _, new_var, new_log_det = moments(None, lam[stale], ups[stale], design)
    var, log_det = q.a.var.copy(), q.a.log_det.copy()
    var[stale], log_det[stale] = new_var, new_log_det
    traces = _trace_q(var, lam, ups, design)
    return replace(q.a, var=var, log_det=log_det, trace_q=traces, made_with=(lam, ups))


def _trace_q(var: Array, lam: Array, ups: Array, design: Design) -> Array:
    r"""The traces :math:`\operatorname{tr}(Q \Sigma)` from the diagonals of the covariances."""
    D = len(design.samples)
    return np.asarray((D - np.sum(lam * var, axis=1)) / ups)  # tr(ΛΣ + υQΣ) = D


def _free_moments(
    S: Array | None, lam: Array, ups: Array, design: Design
) -> tuple[Array, Array, Array]:
    r"""Means :math:`\upsilon \Sigma s`, variances and log-determinants of sample weights.

    One Cholesky factor and its inverse per output, in one array for all of them.
    """
    mean, var, log_det = np.zeros(lam.shape), np.empty(lam.shape), np.empty(len(lam))
    work = np.empty(design.Q.shape, order="F")
    for o in range(len(lam)):
        L = precision_factor(lam[o], ups[o], design, work)
        if S is not None:
            mean[o] = ups[o] * dpotrs(L, S[o], lower=True)[0]
        log_det[o] = -2 * np.sum(np.log(np.diagonal(L)))
        R, _ = dtrtri(L, lower=True, overwrite_c=True)
        var[o] = np.einsum("ij,ij->j", R, R)  # Σ = L⁻ᵀL⁻¹
    return mean, var, log_det


def _tied_moments(
    S: Array | None, lam: Array, ups: Array, design: Design
) -> tuple[Array, Array, Array]:
    """The same, with the variances summed up, by one eigendecomposition for all iterations."""
    values, U = design.eigen
    precision = lam + ups[:, np.newaxis] * values  # λ + υΛ
    mean = np.zeros(precision.shape)
    if S is not None:
        mean = ups[:, np.newaxis] * ((S @ U) / precision) @ U.T
    return mean, np.sum(1 / precision, axis=1, keepdims=True), -np.sum(np.log(precision), axis=1)


def precision_factor(lam: Array, ups: float, design: Design, out: Array | None = None) -> Array:
    r"""The lower Cholesky factor of :math:`\Lambda + \upsilon Q`, in column order."""
    A = np.empty(design.Q.shape, order="F") if out is None else out
    np.multiply(design.Q, ups, out=A.T)  # symmetric
    A[np.diag_indices_from(A)] += lam
    return factorize(A)


def factorize(A: Array) -> Array:
    """The lower Cholesky factor of A in column order, which is overwritten."""
    L, failed = dpotrf(A, lower=True, clean=True, overwrite_a=True)
    if failed:
        raise LinAlgError(
            "the precision of the sample weights is singular to rounding; scale the kernels to "
            "unit variance (normalize='variance')."
        )
    return np.asarray(L)


def update_G(q: Factors, model: Model) -> Intermediate:
    r"""Intermediate outputs: one small eigendecomposition for all samples and outputs.

    Notes
    -----
    :math:`\Sigma_g = (\upsilon I + \sum \epsilon E[e e^\top])^{-1}` and
    :math:`\tilde g_i = \Sigma_g(\upsilon K_i^\top \tilde a + \sum \epsilon(y_i \tilde e - E[be]))`,
    where the sums run over the outputs that share the sample weights.
    """
    basis, spectrum = intermediate_covariance(q, model)
    g = q.ups.mean[:, np.newaxis, np.newaxis] * q.a.Ka
    g += pull(q, model)
    g = basis.T @ g
    g *= spectrum[:, :, np.newaxis]
    mean = basis @ g
    if q.a.X is None:
        return Intermediate(mean, basis, spectrum)
    gain = q.ups.mean[:, np.newaxis] * spectrum  # υΣ_g
    V = basis * gain[:, np.newaxis, :] @ basis.T
    return Intermediate(mean, basis, spectrum, gain, V @ q.a.X @ V)


def intermediate_covariance(q: Factors, model: Model) -> tuple[Array, Array]:
    """Eigenvectors and eigenvalues of the covariances of intermediate outputs."""
    ups, eps, second = q.ups.mean[:, np.newaxis], q.eps.mean, q.be.second
    if model.outputs == "shared_samples":
        s, V = np.linalg.eigh(np.tensordot(eps, second, axes=1))
        return V, 1 / (ups + np.maximum(s, 0.0))
    s, V = np.linalg.eigh(second[0])
    return V, 1 / (ups + eps[:, np.newaxis] * np.maximum(s, 0.0))


def pull(q: Factors, model: Model) -> Array:
    r"""What the targets ask of the intermediate outputs, shape (La, M, n)."""
    eps, e, cross = q.eps.mean[:, np.newaxis], q.be.mean, q.be.cross
    if model.outputs == "shared_samples":
        total = e.T @ (eps * q.f) - (eps * cross).sum(axis=0)[:, np.newaxis]
        return np.asarray(total[np.newaxis])
    total = e[:, :, np.newaxis] * (eps * q.f)[:, np.newaxis]
    total -= (eps * cross)[:, :, np.newaxis]
    return np.asarray(total)


def update_be(q: Factors, model: Model) -> Weights:
    r"""Biases and kernel weights together; the biases are eliminated first.

    Notes
    -----
    With means :math:`\bar g, \bar y` over samples, centred :math:`G_c, y_c` and the share
    :math:`\kappa = n\gamma / (\gamma + n\epsilon)` that the prior of the bias leaves,

    .. math:: \Sigma_e = \big(\Omega + \textstyle\sum_o \epsilon_o (\sum_i \Sigma_{g,i}
              + G_c G_c^\top + \kappa \bar g \bar g^\top)\big)^{-1}, \qquad
              \tilde e = \Sigma_e \textstyle\sum_o \epsilon_o (G_c y_c + \kappa \bar g \bar y)
    """
    n, eps, gam = q.f.shape[1], q.eps.mean, q.gam.mean
    precision_b = gam + n * eps
    kappa = n * gam / precision_b
    g, y = q.G.mean.mean(axis=2), q.f.mean(axis=1)
    yc = q.f - y[:, np.newaxis]
    if model.outputs == "shared_samples":
        Gc = q.G.mean[0] - g[0][:, np.newaxis]
        gram = q.G.covariance_sum(np.ones(1)) + Gc @ Gc.T
        H = eps[:, None, None] * (gram + kappa[:, None, None] * np.outer(g[0], g[0]))
        h = eps[:, None] * (yc @ Gc.T + np.outer(kappa * y, g[0]))
    else:
        H = q.G.covariance_sum(eps) + (g.T * (eps * kappa)) @ g
        h = (eps * kappa * y) @ g
        for o in range(len(eps)):
            Gc = q.G.mean[o] - g[o][:, np.newaxis]
            H += eps[o] * (Gc @ Gc.T)
            h += Gc @ (eps[o] * yc[o])
        H, h = H[np.newaxis], h[np.newaxis]
    mean, cov, log_det = _solve_weights(H, h, q.omega.mean)
    share = (n * eps / precision_b)[:, np.newaxis]  # b given e: share (ȳ − ēᵀḡ)
    bias = share[:, 0] * (y - np.sum(mean * g, axis=1))
    bias_cov = -share * (cov @ g[:, :, np.newaxis])[:, :, 0]
    bias_var = 1 / precision_b - share[:, 0] * np.sum(bias_cov * g, axis=1)
    return Weights(
        mean, cov, bias, bias_var, bias_cov, float(log_det - np.sum(np.log(precision_b)))
    )


def _solve_weights(H: Array, h: Array, omega: Array) -> tuple[Array, Array, float]:
    r"""Means, covariances and log-determinant for precisions :math:`H + \Omega`."""
    mean, cov, log_det = np.empty(h.shape), np.empty(H.shape), 0.0
    for o in range(len(H)):
        root = np.sqrt(omega[o])  # weights that vanish have precisions larger by many orders
        A = H[o] / root
        A /= root[:, np.newaxis]
        A[np.diag_indices_from(A)] += 1.0
        L = factorize(A.T)  # symmetric
        mean[o] = dpotrs(L, h[o] / root, lower=True)[0] / root
        log_det -= 2 * float(np.sum(np.log(np.diagonal(L)))) + float(np.sum(np.log(omega[o])))
        cov[o] = mirror(dpotri(L, lower=True, overwrite_c=True)[0])
        cov[o] /= root
        cov[o] /= root[:, np.newaxis]
    return mean, cov, log_det
