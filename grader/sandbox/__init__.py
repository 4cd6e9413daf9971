"""The learner's side of the pipe. Nothing in here knows a hidden check, a reference answer or a verdict."""
