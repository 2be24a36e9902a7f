const MAX_REFERENCE_LENGTH = 512;
const MAX_URL_LENGTH = 2048;
/** registry/repository[:tag][@digest], optionally with the scheme docker:// or oci://. */
const IMAGE_REFERENCE = /^(?:(?:docker|oci):\/\/)?(?!.*\/\/)[A-Za-z0-9][A-Za-z0-9._:/@-]*$/;
/** Without credentials, which would end up in logs, lists and manifests. */
const DOWNLOAD_URL = /^https?:\/\/[^\s/@]+(\/\S*)?$/;

export const IMAGE_REFERENCE_RULE = 'an image reference such as registry.example.org/images/debian:12';
export const DOWNLOAD_URL_RULE = 'an http:// or https:// URL without a user name or password';

export const isImageReference = (text: string): boolean =>
  text.length <= MAX_REFERENCE_LENGTH && IMAGE_REFERENCE.test(text);
export const isDownloadUrl = (text: string): boolean => text.length <= MAX_URL_LENGTH && DOWNLOAD_URL.test(text);

const CHECKSUM = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

export const CHECKSUM_RULE = 'a checksum such as sha256:<64 hex digits> or sha512:<128 hex digits>';

export const isChecksum = (text: string): boolean => CHECKSUM.test(text);

/** A URL without the parts that may contain a password or a token. */
export function displayUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  return `${url.protocol}//${url.host}${url.pathname}`;
}
