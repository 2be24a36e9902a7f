/** Patterns of credentials. A file with examples contains `secret-scan: example`. */
const patterns = [
  ['a private key', /-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY-----\s*\n(?:[A-Za-z0-9+/=]{40,}\s*\n){2,}/],
  ['a cloud access key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  ['a GitHub token', /\bgh[pousr]_[A-Za-z0-9]{36,}\b/],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/],
  ['a bearer token', /\bBearer\s+eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}/],
  ['a registry host in a lock file', /"resolved":\s*"https?:/],
];

/** The kinds of secrets found in `text`. */
export const findSecrets = (text) =>
  patterns.filter(([, pattern]) => pattern.test(text) && !text.includes('secret-scan: example')).map(([name]) => name);
