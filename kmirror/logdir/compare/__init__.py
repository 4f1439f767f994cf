"""Where do two partitions' folders part?"""
