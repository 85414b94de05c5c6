"""
Web Push: messages to browsers that are not open, by the push service of each (RFC 8030, https://w3c.github.io/push-api/).

`telling` decides what to send, by the rules of notifications; `sealing` encrypts and signs it, and is the only module
that needs the extra; `endpoints` decides which addresses get anything; `sender` sends, on threads of its own;
`subscriptions` keeps the subscribed browsers. `routes` ties them together and is where to start reading.
"""
