"""Sphinx's settings for the site; `site/build_site.py` lays out the pages and calls Sphinx with these."""

project = "One Layer of Attention"
author = "The authors of One Layer of Attention"
copyright = "text and figures: CC BY 4.0; code: MIT"
language = "en"  # Sphinx's British translation is incomplete, and its search stumbles over that
extensions = ["myst_nb", "sphinx-mathjax-offline"]

nb_execution_mode = "off"  # the pages show the outputs that the notebooks store
nb_ipywidgets_js = {}  # nothing to fetch from another machine
nb_merge_streams = True
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

myst_heading_slug_func = "build_site.slug"

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["course.css"]
html_js_files = ["formulas.js"]
html_show_sourcelink = False
html_theme_options = {
    "home_page_in_toc": True,
    "use_download_button": True,
    "use_fullscreen_button": False,
    "navbar_persistent": [],  # the side bar has a search button already
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
