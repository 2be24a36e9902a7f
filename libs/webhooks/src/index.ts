export * from './rotate-webhook.js';
export * from './signature.js';
export * from './webhook-changes.js';
export * from './webhook-dispatcher.js';
export * from './webhook-sender.js';
