/** CrowdSec refuses the login of a program without a version in its name. This is that of the form of its requests. */
export const CROWDSEC_AGENT = 'homeserver-limits/v1';
