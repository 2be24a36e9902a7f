export * from './acme-authority.js';
export * from './acme-files.js';
export * from './alpn-responder.js';
export * from './certificate-renewal.js';
export * from './challenge-answers.js';
export * from './placeholder-certificate.js';
