import { CreateDeviceToken, type CreatedToken } from '@headgate/access';
import type { DeviceLoginsDeps } from '@headgate/login';
import type { Admission } from '../identity/admission.js';

const ROUTE = 'POST /api/ext/login/device/token';

/** Creates the token of a program in the name of the user who has approved it, from the address of the program. */
export const issueDeviceToken =
  (createToken: CreateDeviceToken, admission: Admission): DeviceLoginsDeps<CreatedToken>['issue'] =>
  ({ machine, actions, days }, { login, name, groups }, address) =>
    createToken.run(
      { name: machine, actions, days },
      { ...admission.ofOwner({ login }), name, ...(groups && { groups }), origin: { address, route: ROUTE } },
    );
