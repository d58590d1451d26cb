"""The order of the gallery: from first questions to special ones."""

ORDER = [
    "plot_which_source_matters",
    "plot_does_combining_help",
    "plot_fold_weights",
    "plot_one_decision",
    "plot_redundancy",
    "plot_simplex",
    "plot_which_C",
    "plot_sparsity",
    "plot_duality_gap",
    "plot_precomputed",
    "plot_missing_sources",
    "plot_classes",
    "plot_large",
    "plot_how_sure",
    "plot_evidence_or_cv",
    "plot_outliers",
    "plot_motorcycle",
    "plot_multitask",
    "plot_wedge",
    "plot_q_norm",
    "plot_spatial_svm",
]


def key(filename):
    """Where an example stands; those not listed come last, by name."""
    stem = filename.removesuffix(".py")
    return (ORDER.index(stem) if stem in ORDER else len(ORDER), stem)
