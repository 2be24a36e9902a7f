/** The style of the page. It is inline, because the page has no assets, and its hash is in the policy. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; }
code { font: 0.92em ui-monospace, monospace; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: 0.3rem 0; }
details { border-bottom: 1px solid light-dark(#ddd, #444); }
details[open] { padding-bottom: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid light-dark(#eee, #333); padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
h2 { margin-top: 2.5rem; }
h4 { margin: 0.8rem 0 0.2rem; }
nav a { display: inline-block; margin-right: 1rem; }
summary b { display: inline-block; min-width: 4rem; }
.get { color: light-dark(#06613a, #5fd29b); }
.post { color: light-dark(#0b4f9e, #7db7ff); }
.delete { color: light-dark(#a3161f, #ff8f8f); }
`;
