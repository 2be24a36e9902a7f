# __name__

One sentence about its purpose.

It must not import or know: HTTP, Nest, any backend. It talks to The ports of `@headgate/domain-contracts`.

Try it: `npx nx test @headgate/__name__`
