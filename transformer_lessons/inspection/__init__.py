"""Looking inside a model: attention maps, experiments, plots, the attention explorer and the playgrounds."""
