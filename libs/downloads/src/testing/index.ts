export * from './http-server.js';
export * from './oci-image.js';
