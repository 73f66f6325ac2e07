"""stub"""
class Blacklist: pass
