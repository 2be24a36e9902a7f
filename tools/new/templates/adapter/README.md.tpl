# __name__

What it is: the ports of `@headgate/domain-contracts` over one engine.

What it must not know: HTTP routes, Nest, any other engine. Errors of the engine are translated in one file.

Try it: `npx nx test @headgate/__name__`
