/** Requests to other servers, which a gateway needs without the rest of the embedded homeserver. */
export { PeerClient } from './peer-client.js';
export { RemoteOpenId } from './remote-openid.js';
