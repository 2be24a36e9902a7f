export type { Downloads } from './downloads.js';
export { EgressPolicy } from './egress-policy.js';
export { httpGet, type HttpClient } from './http-get.js';
export { parseImageReference } from './image-reference.js';
export {
  limitBytes,
  MAX_ISO_BYTES,
  maxImageBytes,
  SPACE_WATERMARK_BYTES,
  SpaceGuard,
  type FreeSpace,
} from './limits.js';
export { openCloudImage } from './open-cloud-image.js';
export { openContainerDisk } from './open-container-disk.js';
export { openImage, parseImageUrl, type OpenImage } from './open-image.js';
export { PartialDownloads } from './partial-downloads.js';
