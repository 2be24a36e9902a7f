// The modules of which the parts of Traefik are that tools/peers/traefik.mjs puts together. Traefik's own go.sum has
// the hashes of all others.
module headgate/peers/traefik

go 1.26.0

require (
	github.com/abbot/go-http-auth v0.4.0
	github.com/go-acme/lego/v5 v5.4.1
	github.com/traefik/traefik/v3 v3.7.13
)
