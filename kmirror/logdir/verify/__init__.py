"""Is a partition's folder what a broker wrote?"""
