import type { Logger } from 'pino';
import type { BoundedOperation } from '../classify/bounded-operations.js';
import type { LiveConfig } from '../config/live-config.js';
import type { Holdings } from '../homeserver/holdings.port.js';
import type { Identity } from '../homeserver/identity.port.js';
import { AccountDataBound } from './account-data.bound.js';
import type { Bound } from './bound.js';
import type { Caps } from './caps.js';
import { CreateFilterBound } from './create-filter.bound.js';
import { DehydratedDeviceBound } from './dehydrated-device.bound.js';
import { DelayedEventCaps } from './delayed-event.js';
import { LoginBound } from './login.bound.js';
import { ManageDelayedBound } from './manage-delayed.bound.js';
import { OpenIdTokenBound } from './openid-token.bound.js';
import type { DecisionListener } from '@headgate/limits-nest';
import type { Rates } from './rates.js';
import { RegisterBound } from './register.bound.js';
import { RingRate } from './ring.js';
import { ScheduleDelayedBound, SendBound, SetStateBound } from './send.bound.js';
import { SendTransactionBound } from './send-transaction.bound.js';
import { SetPusherBound } from './set-pusher.bound.js';
import { SfuCredentialBound } from './sfu-credential.bound.js';
import { UploadBound } from './upload.bound.js';
import { UploadKeysBound } from './upload-keys.bound.js';

export interface BoundsParts {
  config: LiveConfig;
  rates: Rates;
  caps: Caps;
  identity: Identity;
  holdings: Holdings;
  log: Logger;
  watch: DecisionListener;
}

export type Bounds = Readonly<Partial<Record<BoundedOperation, Bound>>>;

/** Which operation has which bound: the same in front of an upstream and of the embedded store. */
export function makeBounds({ config, rates, caps, identity, holdings, log, watch }: BoundsParts): Bounds {
  const ring = new RingRate(rates, config);
  const delayed = new DelayedEventCaps(caps, holdings, config, watch);
  const upload = new UploadBound(watch);
  const accountData = new AccountDataBound(identity, caps, holdings);
  const { gateway, rtc } = config.current;
  return {
    login: new LoginBound(rates, config),
    register: new RegisterBound(rates),
    send: new SendBound(identity, ring, delayed),
    setState: new SetStateBound(identity, delayed),
    scheduleDelayed: new ScheduleDelayedBound(identity, ring, delayed),
    manageDelayed: new ManageDelayedBound(),
    openIdToken: new OpenIdTokenBound(identity, rates),
    sfuCredential: new SfuCredentialBound(identity, rates, gateway.upstream !== undefined || rtc.url !== undefined),
    upload,
    uploadTo: upload,
    createFilter: new CreateFilterBound(identity, caps, holdings),
    setAccountData: accountData,
    setRoomAccountData: accountData,
    uploadKeys: new UploadKeysBound(identity, caps, holdings),
    setDehydratedDevice: new DehydratedDeviceBound(identity, caps),
    setPusher: new SetPusherBound(identity, caps, holdings),
    sendTransaction: new SendTransactionBound(log, watch),
  };
}
