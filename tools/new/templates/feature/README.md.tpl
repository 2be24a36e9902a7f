# __name__

What it is: one sentence.

What it must not know: HTTP, Nest, any backend. It talks to the ports of `@headgate/domain-contracts`.

Try it: `npx nx test @headgate/__name__`
