"""Images as bags of visual words: local descriptors, vocabularies, histograms over regions."""

from .colour import hsv_colours
from .foreground import central_foreground, foreground_box
from .gist import gist
from .hog import hog
from .points import edge_points, grid_points, outline
from .reading import read_image, resize_image
from .regions import histogram, normalize_counts, pyramid, region_counts
from .scales import characteristic_scales
from .sift import Sift
from .texture import texture_responses
from .vocabulary import Vocabulary

__all__ = [
    "Sift",
    "Vocabulary",
    "central_foreground",
    "characteristic_scales",
    "edge_points",
    "foreground_box",
    "gist",
    "grid_points",
    "histogram",
    "hog",
    "hsv_colours",
    "normalize_counts",
    "outline",
    "pyramid",
    "read_image",
    "region_counts",
    "resize_image",
    "texture_responses",
]
