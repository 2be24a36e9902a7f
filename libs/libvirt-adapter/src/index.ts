export * from './consoles/connect-socket.js';
export { EgressPolicy } from './fetching/egress-policy.js';
export { httpGet } from './fetching/http-get.js';
export * from './libvirt-backend.js';
export * from './libvirt-traits.js';
