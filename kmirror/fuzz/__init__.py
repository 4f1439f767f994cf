"""The protocol fuzzer: what is wrong in a decoder, a broker or a client?"""
