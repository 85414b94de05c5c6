--- The release that these files are of. A test compares it with the package's.
return '0.2.0'
