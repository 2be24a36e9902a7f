export * from './consoles/connect-socket.js';
export * from './libvirt-backend.js';
export * from './libvirt-traits.js';
