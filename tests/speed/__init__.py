"""How long marking a class takes, beside nbgrader with its stock settings on the same submissions."""
