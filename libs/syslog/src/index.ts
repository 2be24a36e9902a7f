export * from './journal-forwarder.js';
export * from './syslog-connection.js';
export * from './syslog-message.js';
