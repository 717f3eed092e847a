"""Who is it, what may they do, and did they mean it: the one place that decides this for pages and API alike."""
