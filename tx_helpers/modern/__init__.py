"""What has changed since 2017, each change built, counted and measured."""
