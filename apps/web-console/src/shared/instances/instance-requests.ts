import type { TagDto, VmView } from '@headgate/api-contracts';
import { instancePath } from '../api/instance-path.js';
import { postJson } from '../api/request.js';

export const setTag = (vm: VmView, tag: TagDto): Promise<TagDto> =>
  postJson(`${instancePath('vms', vm)}/tags`, { body: tag, query: { context: vm.context } });
