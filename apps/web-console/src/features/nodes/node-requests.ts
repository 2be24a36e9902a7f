import type { DrainDto, NodeDetailsView } from '@headgate/api-contracts';
import type { ApiRequest } from '../../shared/actions/api-request.js';

export const NODE_CHANGES = ['cordon', 'uncordon', 'drain'] as const;
export type NodeChange = (typeof NODE_CHANGES)[number];

/** A change of a node that the user has chosen, whose plan is shown. */
export interface ChosenChange {
  readonly change: NodeChange;
  readonly node: NodeDetailsView;
}

export const nodeRequest = (
  { name, context }: Pick<NodeDetailsView, 'name' | 'context'>,
  change: NodeChange,
  body?: DrainDto,
): ApiRequest => ({
  method: 'POST',
  // The name is a parameter of the route.
  path: `/api/ext/nodes/${encodeURIComponent(name)}/${change}` as ApiRequest['path'],
  query: { context },
  ...(body && { body }),
});
