# __name__

What it is: the ports of `@headgate/domain-contracts` over __Name__.

What it must not know: HTTP routes, Nest, any other engine. One file translates the engine's errors.

The service imports only `src/kind.ts`, which has the traits, the settings and a function that opens a context.

Try it: `npx nx test @headgate/__name__`. The contract suites fail until the abilities are built. Each ability that the
engine can't have stays an `UnavailableAbility` with the reason for its users, and goes into `unavailable` in
`src/__name__-backend.spec.ts`.
