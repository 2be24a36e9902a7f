import type { PatchedView, TagDto } from '@headgate/api-contracts';
import { extensionPath, instancePath } from '../api/instance-path.js';
import { patchJson, postJson } from '../api/request.js';
import { isVm, type Instance } from './instance.js';

/** The tags of a container are declared as a whole. */
export const setTag = (instance: Instance, { tag, on }: TagDto): Promise<TagDto | PatchedView> => {
  const query = { context: instance.context };
  if (isVm(instance)) return postJson(`${instancePath('vms', instance)}/tags`, { body: { tag, on }, query });
  const others = instance.tags.filter((one) => one !== tag);
  return patchJson(extensionPath(instance, 'cts'), { body: { tags: on ? [...others, tag] : others }, query });
};
