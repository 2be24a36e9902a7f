import { useQuery } from '@tanstack/react-query';
import type {
  CreateMessageChannelDto,
  CreateMessageRuleDto,
  MessageChannelTestView,
  PlanView,
  UpdateMessageChannelDto,
  UpdateMessageRuleDto,
} from '@headgate/api-contracts';
import { deleteJson, getJson, patchJson, postJson } from '../../../shared/api/request.js';

const PATH = '/api/ext/messages';
const CHANNELS = `${PATH}/channels` as const;
const RULES = `${PATH}/rules` as const;
const REFRESH_INTERVAL_MS = 15_000;
/** The channels, the rules, and what they have sent. */
export const MESSAGES_KEY = ['messages'] as const;

export const useChannels = () =>
  useQuery({
    queryKey: [...MESSAGES_KEY, 'channels'],
    queryFn: ({ signal }) => getJson(CHANNELS, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
  });

export const useRules = () =>
  useQuery({
    queryKey: [...MESSAGES_KEY, 'rules'],
    queryFn: ({ signal }) => getJson(RULES, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
  });

export const useSentMessages = () =>
  useQuery({
    queryKey: [...MESSAGES_KEY, 'sent'],
    queryFn: ({ signal }) => getJson(PATH, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
  });

/** The webhooks that a channel can send to, once they are needed. */
export const useWebhookChoices = (isNeeded: boolean) =>
  useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => getJson('/api/ext/webhooks', { signal }),
    enabled: isNeeded,
  });

const PLANNED = { dryRun: true } as const;

/** A change with its plan. */
export interface MessageChange {
  readonly preview: (signal: AbortSignal) => Promise<PlanView>;
  readonly run: () => Promise<unknown>;
}

export const creatingChannel = (body: CreateMessageChannelDto): MessageChange => ({
  preview: (signal) => postJson(CHANNELS, { body, query: PLANNED, signal }),
  run: () => postJson(CHANNELS, { body }),
});

export const changingChannel = (id: string, body: UpdateMessageChannelDto): MessageChange => ({
  preview: (signal) => patchJson(`${CHANNELS}/${id}`, { body, query: PLANNED, signal }),
  run: () => patchJson(`${CHANNELS}/${id}`, { body }),
});

export const deletingChannel = (id: string): MessageChange => ({
  preview: (signal) => deleteJson(`${CHANNELS}/${id}`, { query: PLANNED, signal }),
  run: () => deleteJson(`${CHANNELS}/${id}`),
});

export const testChannel = (id: string): Promise<MessageChannelTestView> => postJson(`${CHANNELS}/${id}/test`);

export const creatingRule = (body: CreateMessageRuleDto): MessageChange => ({
  preview: (signal) => postJson(RULES, { body, query: PLANNED, signal }),
  run: () => postJson(RULES, { body }),
});

export const changingRule = (id: string, body: UpdateMessageRuleDto): MessageChange => ({
  preview: (signal) => patchJson(`${RULES}/${id}`, { body, query: PLANNED, signal }),
  run: () => patchJson(`${RULES}/${id}`, { body }),
});

export const deletingRule = (id: string): MessageChange => ({
  preview: (signal) => deleteJson(`${RULES}/${id}`, { query: PLANNED, signal }),
  run: () => deleteJson(`${RULES}/${id}`),
});
