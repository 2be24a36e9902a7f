/** Requests to other servers, which a gateway needs without the rest of the embedded homeserver. */
export { PeerClient } from './federation/peer-client.js';
export { RemoteOpenId } from './rtc/remote-openid.js';
