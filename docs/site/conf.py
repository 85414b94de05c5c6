"""How Sphinx builds the site; docs/site/build.py starts it."""

from tallylight import __version__

project = "Tallylight"
author = "the Tallylight authors"
release = version = __version__
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
# Every heading can be linked to, as in the repository's own view of these pages.
myst_heading_anchors = 4
html_theme = "furo"
html_favicon = "../../shared/tallylight/parts/web/page/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_title = f"Tallylight {version}"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
# Of both looks the colours are those of the lights: working, and done.
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fbf", "color-brand-content": "#1f5fbf"},
    "dark_css_variables": {"color-brand-primary": "#7fb2ff", "color-brand-content": "#7fb2ff"},
}
# Transcripts and screens are shown as they are.
highlight_language = "none"
# Languages that Pygments does not know, and code with `…` for what is left out, have no colours; that is no mistake.
suppress_warnings = ["misc.highlighting_failure"]
pygments_style = "friendly"
pygments_dark_style = "github-dark"
