/** The release of the service, as in its package. */
export const SERVICE_VERSION = '0.1.0';
