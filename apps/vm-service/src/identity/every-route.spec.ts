import 'reflect-metadata';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { ModulesContainer } from '@nestjs/core';
import { CreateToken } from '@headgate/access';
import { ADMINISTRATOR, TOKEN_ACTIONS, type AccessScope } from '@headgate/domain-contracts';
import { openapiDocument } from '../reference/openapi-document.js';
import { previewApplication } from '../reference/preview-application.js';
import { Edge } from '../testing/edge.js';
import { ProcPeerUsers } from '../platform/peer-users.js';
import { routesOf } from './routes.js';

/**
 * Who may use each route. `yes` and `no` (403) are the answer of the guards; `hidden` is the 404 of an instance that
 * does not exist for the caller. Every caller is tested with the VM `db` and the container `box` in the folder `prod`,
 * and `outside` of it with `web`.
 *
 *  stranger  another user of this machine, without an allowlist
 *  reader    not on the allowlist
 *  admin     on the allowlist
 *  token     an API token for every action in the folder prod
 *  outside   the same token, for an instance outside of the folder
 *  viewer    with a role in the folder prod, as the next two
 *  operator
 *  owner     with the role admin in the folder
 *  roleless  without any role, while roles are configured
 */
const COLUMNS = ['stranger', 'reader', 'admin', 'token', 'outside', 'viewer', 'operator', 'owner', 'roleless'] as const;
type Column = (typeof COLUMNS)[number];

const TABLE = `
                                                        stranger reader admin token outside viewer operator owner roleless
GET    /                                                no       yes    yes   yes   -       yes    yes      yes   yes
GET    /app.js                                          no       yes    yes   yes   -       yes    yes      yes   yes
GET    /style.css                                       no       yes    yes   yes   -       yes    yes      yes   yes
GET    /icons.js                                        no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/page/manifest.webmanifest               no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/page/icon.svg                           no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/page/icon.png                           no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/page/de.json                            no       yes    yes   yes   -       yes    yes      yes   yes
GET    /healthz                                         yes      yes    yes   yes   -       yes    yes      yes   yes
GET    /readyz                                          yes      yes    yes   yes   -       yes    yes      yes   yes
GET    /metrics                                         no       yes    yes   no    -       no     no       no    no
GET    /api/ext/openapi.json                            no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/docs                                    no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/whoami                                      no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/capabilities                                no       yes    yes   no    -       yes    yes      yes   no
GET    /api/nodes                                       no       yes    yes   no    -       yes    yes      yes   no
GET    /api/instancetypes                               no       yes    yes   no    -       yes    yes      yes   no
GET    /api/nads                                        no       yes    yes   no    -       yes    yes      yes   no
GET    /api/images                                      no       yes    yes   no    -       yes    yes      yes   no
GET    /api/ext/login                                   no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/password                          no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/first-account                     no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/setup                             no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/recovery                          no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/logout                            no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/login/providers/{id}/start              no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/login/providers/{id}/callback           no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/device                            no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/device/token                      no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/device/request                    no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/device/approve                    no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/device/deny                       no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/login/devices                           no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/ext/login/devices/{id}                      no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/login/sessions                          no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/ext/login/sessions/{id}                     no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/own-password                      no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/recovery-codes                    no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/passkey/options                   no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/passkey                           no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/login/passkeys                          no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/passkeys/options                  no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/login/passkeys                          no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/ext/login/passkeys/{id}                     no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/sessions                                no       no     yes   no    -       no     no       no    no
DELETE /api/ext/sessions/{id}                           no       no     yes   no    -       no     no       no    no
GET    /api/ext/accounts                                no       no     yes   no    -       no     no       no    no
POST   /api/ext/accounts                                no       no     yes   no    -       no     no       no    no
PATCH  /api/ext/accounts/{login}                        no       no     yes   no    -       no     no       no    no
POST   /api/ext/accounts/{login}/reset                  no       no     yes   no    -       no     no       no    no
DELETE /api/ext/accounts/{login}                        no       no     yes   no    -       no     no       no    no
GET    /api/ext/ssh-keys                                no       no     yes   no    -       no     no       no    no
POST   /api/ext/ssh-keys                                no       no     yes   no    -       no     no       no    no
DELETE /api/ext/ssh-keys/{id}                           no       no     yes   no    -       no     no       no    no
GET    /api/ext/views                                   no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/views                                   no       yes    yes   yes   -       yes    yes      yes   yes
PATCH  /api/ext/views/{id}                              no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/ext/views/{id}                              no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/schedules                               no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/schedules                               no       no     yes   yes   no      no     yes      yes   no
POST   /api/ext/schedules/preview                       no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/schedules/{id}                          no       yes    yes   yes   -       yes    yes      yes   yes
PATCH  /api/ext/schedules/{id}                          no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/ext/schedules/{id}                          no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/schedules/{id}/run                      no       no     yes   yes   -       yes    yes      yes   yes
GET    /api/ext/messages                                no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/messages/channels                       no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/messages/channels                       no       no     yes   no    -       no     no       no    no
PATCH  /api/ext/messages/channels/{id}                  no       no     yes   no    -       no     no       no    no
DELETE /api/ext/messages/channels/{id}                  no       no     yes   no    -       no     no       no    no
POST   /api/ext/messages/channels/{id}/test             no       no     yes   no    -       no     no       no    no
GET    /api/ext/messages/rules                          no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/messages/rules                          no       yes    yes   yes   -       yes    yes      yes   yes
PATCH  /api/ext/messages/rules/{id}                     no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/ext/messages/rules/{id}                     no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/contexts                                no       no     yes   no    -       no     no       no    no
POST   /api/ext/contexts                                no       no     yes   no    -       no     no       no    no
POST   /api/ext/contexts/test                           no       no     yes   no    -       no     no       no    no
PATCH  /api/ext/contexts/{name}                         no       no     yes   no    -       no     no       no    no
DELETE /api/ext/contexts/{name}                         no       no     yes   no    -       no     no       no    no
POST   /api/ext/cloud-init/check                        no       no     yes   no    -       no     no       no    no
GET    /api/sources                                     no       yes    yes   no    -       yes    yes      yes   no
POST   /api/sources                                     no       no     yes   no    -       no     no       no    no
DELETE /api/sources/{name}                              no       no     yes   no    -       no     no       no    no
GET    /api/datavolumes                                 no       yes    yes   no    -       yes    yes      yes   no
POST   /api/datavolumes                                 no       no     yes   no    -       no     no       no    no
DELETE /api/datavolumes/{ns}/{name}                     no       no     yes   no    -       no     no       no    no
GET    /api/doctor                                      no       yes    yes   no    -       no     no       no    no
GET    /api/ext/doctor                                  no       yes    yes   no    -       no     no       no    no
POST   /api/ext/doctor/fix                              no       no     yes   no    -       no     no       no    no
GET    /api/ext/stream                                  no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/doctor/fix                                  no       no     yes   no    -       no     no       no    no
GET    /api/vms                                         no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/vms                                         no       no     yes   no    -       no     no       no    no
GET    /api/vms/{ns}/{name}                             no       yes    yes   yes   hidden  yes    yes      yes   hidden
DELETE /api/vms/{ns}/{name}                             no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/vms/{ns}/{name}/events                      no       yes    yes   yes   hidden  yes    yes      yes   hidden
GET    /api/vms/{ns}/{name}/guestinfo                   no       yes    yes   yes   hidden  yes    yes      yes   hidden
GET    /api/vms/{ns}/{name}/metrics                     no       yes    yes   yes   hidden  yes    yes      yes   hidden
GET    /api/vms/{ns}/{name}/metrics/history             no       yes    yes   yes   hidden  yes    yes      yes   hidden
GET    /api/vms/{ns}/{name}/export                      no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/vms/{ns}/{name}/{action}                    no       no     yes   yes   hidden  no     yes      yes   hidden
POST   /api/vms/{ns}/{name}/migrate                     no       no     yes   no    hidden  no     no       no    hidden
POST   /api/vms/{ns}/{name}/tags                        no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/vms/{ns}/{name}/scale                       no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/vms/{ns}/{name}/expand                      no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/vms/{ns}/{name}/volumes                     no       no     yes   yes   hidden  no     no       yes   hidden
DELETE /api/vms/{ns}/{name}/volumes/{vol}               no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/vms/{ns}/{name}/nics                        no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/vms/{ns}/{name}/snapshots                   no       yes    yes   yes   hidden  yes    yes      yes   hidden
POST   /api/vms/{ns}/{name}/snapshots                   no       no     yes   yes   hidden  no     no       yes   hidden
DELETE /api/vms/{ns}/{name}/snapshots/{snap}            no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/vms/{ns}/{name}/snapshots/{snap}/restore    no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/vms/{ns}/{name}/clone                       no       no     yes   no    hidden  no     no       no    hidden
POST   /api/vms/{ns}/{name}/template                    no       no     yes   yes   hidden  no     no       yes   hidden
PATCH  /api/ext/vms/{ns}/{name}                         no       no     yes   yes   hidden  no     no       yes   hidden
PATCH  /api/ext/cts/{ns}/{name}                         no       no     yes   yes   -       no     no       yes   hidden
GET    /api/ext/cts/{ns}/{name}                         no       yes    yes   yes   -       yes    yes      yes   hidden
GET    /api/ext/cts/{ns}/{name}/events                  no       yes    yes   yes   -       yes    yes      yes   hidden
GET    /api/ext/cts/{ns}/{name}/files/entries           no       no     yes   yes   -       no     yes      yes   hidden
GET    /api/ext/cts/{ns}/{name}/files/content           no       no     yes   yes   -       no     yes      yes   hidden
GET    /api/ext/cts/{ns}/{name}/logs                    no       yes    yes   yes   -       yes    yes      yes   hidden
GET    /api/ext/cts/{ns}/{name}/metrics                 no       yes    yes   yes   -       yes    yes      yes   hidden
GET    /api/ext/cts/{ns}/{name}/metrics/history         no       yes    yes   yes   -       yes    yes      yes   hidden
GET    /api/ext/cts/{ns}/{name}/snapshots               no       yes    yes   yes   -       yes    yes      yes   hidden
POST   /api/ext/cts/{ns}/{name}/snapshots               no       no     yes   yes   -       no     no       yes   hidden
DELETE /api/ext/cts/{ns}/{name}/snapshots/{snap}        no       no     yes   yes   -       no     no       yes   hidden
POST   /api/ext/cts/{ns}/{name}/snapshots/{snap}/restore no       no     yes   yes   -       no     no       yes   hidden
POST   /api/ext/cts/{ns}/{name}/clone                   no       no     yes   no    -       no     no       no    hidden
GET    /api/ext/cts/{ns}/{name}/hardware                no       yes    yes   yes   -       yes    yes      yes   hidden
POST   /api/ext/cts/{ns}/{name}/hardware                no       no     yes   yes   -       no     no       yes   hidden
GET    /api/ext/vms/{ns}/{name}/hardware                no       yes    yes   yes   hidden  yes    yes      yes   hidden
POST   /api/ext/vms/{ns}/{name}/hardware                no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/ext/vms/{ns}/{name}/metrics/history         no       yes    yes   yes   hidden  yes    yes      yes   hidden
POST   /api/ext/vms/{ns}/{name}/nics/{iface}            no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/ext/vms/{ns}/{name}/volumes/{vol}/move      no       no     yes   yes   hidden  no     no       yes   hidden
DELETE /api/ext/vms/{ns}/{name}/nics/{iface}            no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/ext/vms/{ns}/{name}/drives/{drive}          no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/ext/vms/{ns}/{name}/boot-order              no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/ext/vms/{ns}/{name}/autostart               no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/ext/vms/{ns}/{name}/placement               no       no     yes   no    hidden  no     no       no    hidden
POST   /api/ext/vms/{ns}/{name}/devices                 no       no     yes   no    hidden  no     no       no    hidden
DELETE /api/ext/vms/{ns}/{name}/devices/{device}        no       no     yes   no    hidden  no     no       no    hidden
GET    /api/ext/host-resources                          no       no     yes   no    -       no     no       no    no
GET    /api/ext/nodes                                   no       yes    yes   no    -       yes    yes      yes   no
GET    /api/ext/nodes/{name}/failure                    no       yes    yes   no    -       yes    yes      yes   no
POST   /api/ext/nodes/{name}/cordon                     no       no     yes   no    -       no     no       no    no
POST   /api/ext/nodes/{name}/uncordon                   no       no     yes   no    -       no     no       no    no
POST   /api/ext/nodes/{name}/drain                      no       no     yes   no    -       no     no       no    no
GET    /api/ext/storage                                 no       yes    yes   no    -       yes    yes      yes   no
GET    /api/ext/networks                                no       yes    yes   no    -       yes    yes      yes   no
GET    /api/ext/vms/{ns}/{name}/checkpoints              no       yes    yes   yes   hidden  yes    yes      yes   hidden
DELETE /api/ext/vms/{ns}/{name}/checkpoints/{checkpoint} no      no     yes   yes   hidden  no     no       yes   hidden
POST   /api/ext/guest/password                          no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/ext/guest/command                           no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/cts                                         no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/cts                                         no       no     yes   no    -       no     no       no    no
POST   /api/cts/{ns}/{name}/{action}                    no       no     yes   yes   -       no     yes      yes   hidden
DELETE /api/cts/{ns}/{name}                             no       no     yes   yes   -       no     no       yes   hidden
GET    /api/folders                                     no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/folders                                     no       no     yes   yes   no      no     no       yes   no
DELETE /api/folders                                     no       no     yes   no    no      no     no       no    no
POST   /api/folders/move                                no       no     yes   yes   no      no     no       yes   no
POST   /api/folders/members                             no       no     yes   yes   no      no     no       yes   no
DELETE /api/folders/members                             no       no     yes   no    no      no     no       no    no
POST   /api/folders/action                              no       no     yes   yes   no      no     yes      yes   no
GET    /api/tasks                                       no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/tasks/{id}                                  no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/tasks/{id}                                  no       no     yes   no    -       no     no       no    no
GET    /api/ext/facets                                  no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/bulk                                    no       no     yes   yes   no      no     yes      yes   no
POST   /api/ext/bulk/{task}/retry                       no       no     yes   no    -       no     no       no    no
POST   /api/ext/bulk/{task}/cancel                      no       no     yes   no    -       no     no       no    no
POST   /api/ext/bulk/{task}/pause                       no       no     yes   no    -       no     no       no    no
POST   /api/ext/bulk/{task}/resume                      no       no     yes   no    -       no     no       no    no
GET    /api/move/destinations                           no       yes    yes   no    -       no     no       no    no
POST   /api/move/preflight                              no       no     yes   no    -       no     no       no    no
POST   /api/move                                        no       no     yes   no    -       no     no       no    no
GET    /api/plugins                                     no       yes    yes   no    -       yes    yes      yes   no
POST   /api/plugins/{name}/install                      no       no     yes   no    -       no     no       no    no
DELETE /api/plugins/{name}                              no       no     yes   no    -       no     no       no    no
GET    /api/ext/tokens                                  no       no     yes   no    -       no     no       no    no
POST   /api/ext/tokens                                  no       no     yes   no    -       no     no       no    no
PATCH  /api/ext/tokens/{id}                             no       no     yes   no    -       no     no       no    no
POST   /api/ext/tokens/{id}/rotate                      no       no     yes   no    -       no     no       no    no
DELETE /api/ext/tokens/{id}                             no       no     yes   no    -       no     no       no    no
GET    /api/ext/roles                                   no       no     yes   no    -       no     no       no    no
POST   /api/ext/roles                                   no       no     yes   no    -       no     no       no    no
PATCH  /api/ext/roles/{id}                              no       no     yes   no    -       no     no       no    no
DELETE /api/ext/roles/{id}                              no       no     yes   no    -       no     no       no    no
GET    /api/ext/access                                  no       yes    yes   no    -       yes    yes      yes   yes
GET    /api/ext/mcp                                     no       no     no    no    -       no     no       no    no
POST   /api/ext/mcp                                     no       no     no    no    -       no     no       no    no
DELETE /api/ext/mcp                                     no       no     no    no    -       no     no       no    no
GET    /api/ext/approvals                               no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/approvals/{id}/approve                  no       no     yes   yes   -       yes    yes      yes   yes
POST   /api/ext/approvals/{id}/reject                   no       no     yes   yes   -       yes    yes      yes   yes
POST   /api/ext/twins                                   no       no     yes   yes   -       yes    yes      yes   yes
POST   /api/ext/agents/stop                             no       no     yes   no    -       no     no       no    no
POST   /api/ext/agents/resume                           no       no     yes   no    -       no     no       no    no
GET    /api/ext/changes                                 no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/journal                                 no       no     yes   no    -       no     no       no    no
GET    /api/ext/journal/activity                        no       yes    yes   no    -       no     no       no    no
GET    /api/ext/journal/export                          no       no     yes   no    -       no     no       no    no
GET    /api/ext/journal/head                            no       no     yes   no    -       no     no       no    no
GET    /api/ext/journal/stream                          no       no     yes   no    -       no     no       no    no
GET    /api/ext/journal/summary                         no       no     yes   no    -       no     no       no    no
GET    /api/ext/backups/targets                         no       yes    yes   no    -       yes    yes      yes   no
POST   /api/ext/backups/targets                         no       no     yes   no    -       no     no       no    no
GET    /api/ext/backups/proof-key                       no       yes    yes   no    -       yes    yes      yes   no
DELETE /api/ext/backups/targets/{target}                no       no     yes   no    -       no     no       no    no
POST   /api/ext/backups/targets/{target}/clean          no       no     yes   no    -       no     no       no    no
POST   /api/ext/backups/targets/{target}/check          no       no     yes   no    -       no     no       no    no
GET    /api/ext/backups/targets/{target}/state          no       yes    yes   no    -       no     no       no    no
GET    /api/ext/backups/targets/{target}/points         no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/ext/backups/targets/{target}/points/{point} no       no     yes   no    -       no     no       no    no
POST   /api/ext/backups/targets/{target}/points/{point}/restore no no  yes   no    -       no     no       no    no
POST   /api/ext/backups/targets/{target}/points/{point}/replace-disks no no yes no hidden no no     no       hidden
POST   /api/ext/backups/targets/{target}/points/{point}/add-disks no no yes   no   hidden  no     no       no       hidden
POST   /api/ext/backups/targets/{target}/points/{point}/prove   no no  yes   no    -       no     no       no    no
GET    /api/ext/backups/targets/{target}/points/{point}/proof   no no  yes   no    -       no     no       no    no
GET    /api/ext/backups/targets/{target}/points/{point}/proof/picture no no yes no   -       no     no       no    no
POST   /api/ext/backups/targets/{target}/points/{point}/files no no yes no - no no no no
GET    /api/ext/backups/targets/{target}/points/{point}/files/{session} no no yes no - no no no no
GET    /api/ext/backups/targets/{target}/points/{point}/files/{session}/entries no no yes no - no no no no
GET    /api/ext/backups/targets/{target}/points/{point}/files/{session}/content no no yes no - no no no no
GET    /api/ext/backups/targets/{target}/points/{point}/files/{session}/archive no no yes no - no no no no
DELETE /api/ext/backups/targets/{target}/points/{point}/files/{session} no no yes no - no no no no
POST   /api/ext/vms/{ns}/{name}/files                   no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/ext/vms/{ns}/{name}/files/{session}         no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/ext/vms/{ns}/{name}/files/{session}/entries no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/ext/vms/{ns}/{name}/files/{session}/content no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/ext/vms/{ns}/{name}/files/{session}/archive no       no     yes   yes   hidden  no     no       yes   hidden
DELETE /api/ext/vms/{ns}/{name}/files/{session}         no       no     yes   yes   hidden  no     no       yes   hidden
POST   /api/ext/vms/{ns}/{name}/backup                  no       no     yes   yes   hidden  no     no       yes   hidden
GET    /api/ext/webhooks                                no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/webhooks                                no       yes    yes   yes   -       yes    yes      yes   yes
PATCH  /api/ext/webhooks/{id}                           no       yes    yes   yes   -       yes    yes      yes   yes
DELETE /api/ext/webhooks/{id}                           no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/webhooks/{id}/replay                    no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/webhooks/{id}/test                      no       yes    yes   yes   -       yes    yes      yes   yes
POST   /api/ext/webhooks/{id}/rotate                    no       yes    yes   yes   -       yes    yes      yes   yes
GET    /api/ext/vms/{ns}/{name}/screen                  no       yes    yes   yes   hidden  yes    yes      yes   hidden
GET    /api/ext/vms/{ns}/{name}/watchers                no       yes    yes   yes   hidden  yes    yes      yes   hidden
GET    /api/ext/vms/{ns}/{name}/ports                   no       no     yes   yes   hidden  no     no       yes   hidden
SOCKET /api/ext/vms/{ns}/{name}/ports/{port}            no       no     yes   yes   hidden  no     no       yes   hidden
SOCKET /api/vnc/{ns}/{name}                             no       yes    yes   yes   hidden  yes    yes      yes   hidden
SOCKET /api/tty/{ns}/{name}                             no       yes    yes   yes   hidden  yes    yes      yes   hidden
`;

const rows = TABLE.trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [method = '', path = '', ...outcomes] = line.split(/\s+/);
    return { method, path, outcomes: Object.fromEntries(COLUMNS.map((column, index) => [column, outcomes[index]])) };
  });

/** What a caller of the table sends with every request. */
type Headers = Readonly<Record<string, string>>;

const IN_FOLDER = { vm: 'db', ct: 'box', path: 'prod/inner', from: 'prod/old', to: 'prod/new' };
const OUTSIDE = { vm: 'web', ct: 'box', path: 'other', from: 'other', to: 'prod/new' };

/** A valid body of each route whose body is read before the route runs. */
const bodyOf = (route: string, target: typeof IN_FOLDER): object | undefined => {
  const ref = `vm/lab/default/${target.vm}`;
  switch (route) {
    case 'POST /api/ext/guest/password':
      return { ref, user: 'root', password: 'new-password' };
    case 'POST /api/ext/guest/command':
      return { ref, path: '/bin/true' };
    case 'POST /api/ext/backups/targets/{target}/points/{point}/replace-disks':
    case 'POST /api/ext/backups/targets/{target}/points/{point}/add-disks':
      return { ref };
    case 'POST /api/folders':
      return { path: target.path };
    case 'POST /api/folders/move':
      return { from: target.from, to: target.to };
    case 'POST /api/folders/members':
      return { path: target.path, ref };
    case 'POST /api/folders/action':
      return { path: target.path, action: 'stop' };
    case 'POST /api/ext/schedules':
      return {
        name: 'Night',
        cron: '@daily',
        timeZone: 'UTC',
        job: { action: 'stop', query: { folder: target.path } },
      };
    case 'POST /api/ext/bulk':
      return { refs: [ref], action: 'stop' };
    default:
      return undefined;
  }
};

class OtherUser extends ProcPeerUsers {
  override userOf(): number {
    return 4242;
  }
}

const CONFIG = `
admins: [ann]
roles:
  - { login: vera, folder: prod, role: viewer }
  - { login: oscar, folder: prod, role: operator }
  - { login: olga, folder: prod, role: admin }
`;
const LOGINS = { reader: 'bob', admin: 'ann', viewer: 'vera', operator: 'oscar', owner: 'olga', roleless: 'bob' };

describe('every route', () => {
  test('of the API document has an entry in the table and a need, and no other has', async () => {
    const app = await previewApplication();
    const { paths } = openapiDocument(app, '0') as unknown as { paths: Record<string, Record<string, unknown>> };
    const stated = routesOf(app.get(ModulesContainer));
    await app.close();
    const routes = Object.entries(paths)
      .flatMap(([path, operations]) => Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`))
      .sort();
    const listed = rows.map(({ method, path }) => `${method} ${path}`).sort();
    expect(listed.filter((route) => !route.startsWith('SOCKET'))).toEqual(routes);
    expect(stated.filter(({ need }) => need === undefined)).toEqual([]);
    const needed = stated.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    expect(needed.sort()).toEqual(listed);
  });

  describe.each(COLUMNS)('as %s', (column: Column) => {
    let edge: Edge;
    let headers: Headers;

    beforeAll(async () => {
      edge = await new Edge().open();
      for (const path of ['prod/inner', 'prod/old', 'other']) await edge.send('POST', '/api/folders', { path });
      for (const ref of ['vm/lab/default/db', 'ct/lab/default/box'])
        await edge.send('POST', '/api/folders/members', { path: 'prod', ref });
      headers = await prepare(edge, column);
      await edge.send('GET', '/api/vms');
    });

    afterAll(() => edge.close());

    test.each(rows)('$method $path', async ({ method, path, outcomes }) => {
      const expected = outcomes[column];
      if (expected === '-') return;
      const target = column === 'outside' ? OUTSIDE : IN_FOLDER;
      const filled = fill(path, target);
      if (method === 'SOCKET') {
        expect(await socketOutcome(edge, filled, headers)).toBe(expected);
        return;
      }
      const query = method === 'GET' ? '' : `?dryRun=true${queryOf(`${method} ${path}`, target)}`;
      const { status, json } = await edge.send(method, filled + query, bodyOf(`${method} ${path}`, target), headers);
      const outcome = status === 403 ? 'no' : json.code === 'INSTANCE_NOT_FOUND' ? 'hidden' : 'yes';
      expect([outcome, json.error]).toEqual([expected, json.error]);
    });
  });
});

async function prepare(edge: Edge, column: Column): Promise<Headers> {
  if (column === 'stranger') {
    edge.peerUsers = new OtherUser();
    await edge.reopen();
    return {};
  }
  if (column === 'reader' || column === 'admin') {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    return { 'tailscale-user-login': LOGINS[column] };
  }
  if (column === 'token' || column === 'outside') {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    return { authorization: `Bearer ${await createToken(edge, { folder: 'prod' })}` };
  }
  const file = join(edge.folder, 'roles.yaml');
  writeFileSync(file, CONFIG);
  await edge.reopen({}, ['--config', file]);
  return { 'tailscale-user-login': LOGINS[column] };
}

async function createToken(edge: Edge, scope: AccessScope): Promise<string> {
  const body = { name: 'ci', actions: TOKEN_ACTIONS, scope, days: 1 };
  const created = await edge.service.app.get(CreateToken).run(body, { login: 'ann', name: '', grant: ADMINISTRATOR });
  return created.text;
}

const fill = (path: string, { vm, ct }: typeof IN_FOLDER): string =>
  path
    .replace('{ns}', 'default')
    .replace('{name}', path.includes('/cts/') ? ct : vm)
    .replace('{action}', 'stop')
    .replace('{port}', '7')
    .replace(/\{\w+\}/g, 'aaaaaaaaaa');

function queryOf(route: string, { vm, path }: typeof IN_FOLDER): string {
  if (route === 'DELETE /api/folders') return `&path=${path}`;
  return route === 'DELETE /api/folders/members' ? `&ref=vm/lab/default/${vm}` : '';
}

async function socketOutcome(edge: Edge, path: string, headers: Headers): Promise<string> {
  const socket = edge.socket(path, headers);
  const opened = once(socket, 'open').then(() => 'yes');
  const refused = once(socket, 'unexpected-response').then(([, response]) => {
    const { statusCode } = response as IncomingMessage;
    (response as IncomingMessage).resume();
    return statusCode === 403 ? 'no' : statusCode === 404 ? 'hidden' : `status ${statusCode}`;
  });
  const outcome = await Promise.race([opened, refused]);
  socket.on('error', () => undefined);
  socket.terminate();
  return outcome;
}
