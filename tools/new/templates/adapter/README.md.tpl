# __name__

The ports of `@headgate/domain-contracts` over one engine.

It must not import or know: HTTP routes, Nest, any other engine. Errors of the engine are translated in one file.

Try it: `npx nx test @headgate/__name__`
