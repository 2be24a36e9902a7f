/**
 * The certificate in the status of an export. It has no private key: inside the simulation nothing listens on the
 * internal address, and the external one is plain HTTP.
 */
export const EXPORT_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBljCCAT2gAwIBAgIUK6w1UUHN2eXhYDqzFlnacB6XCHcwCgYIKoZIzj0EAwIw
IDEeMBwGA1UEAwwVc2ltdWxhdGVkLnZpcnQtZXhwb3J0MCAXDTI2MTEyMTEwMTIx
MFoYDzIxMjYxMDI4MTAxMjEwWjAgMR4wHAYDVQQDDBVzaW11bGF0ZWQudmlydC1l
eHBvcnQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARUy4mdfHzDx9X7oS/Rq96B
TWnAT8mmCYe43pEJZWFNzC/T8OP1gw1ATA41BO3taGw2B+P573ru4ofTPozAi626
o1MwUTAdBgNVHQ4EFgQUkoqB7hWMU9+MxcveqxUBPW729AwwHwYDVR0jBBgwFoAU
koqB7hWMU9+MxcveqxUBPW729AwwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD
AgNHADBEAiAPRzY62qUyVkq+YJD7oi+BDBuJo9SDTHb9PY3mItv+KwIgLGkY24Q5
6f4cowCSFu1RVSkH3J3uo9DCPtY6HpGY6Ug=
-----END CERTIFICATE-----
`;
