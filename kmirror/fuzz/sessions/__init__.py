"""What may a broker answer in a session? Rule machines: clients that send what they could, and a model that judges."""
