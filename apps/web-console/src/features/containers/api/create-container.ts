import type { CreateContainerDto, CreatedView } from '@headgate/api-contracts';
import { postJson } from '../../../shared/api/request.js';

export const createContainer = (request: CreateContainerDto): Promise<CreatedView> =>
  postJson<CreatedView>('/api/cts', { body: request });
