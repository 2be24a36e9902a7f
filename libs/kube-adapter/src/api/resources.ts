/** A kind of object and its location in the API. */
export interface Resource {
  /** `v1`, or `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const resource = (apiVersion: string, kind: string, plural: string, namespaced = true): Resource => ({
  apiVersion,
  kind,
  plural,
  namespaced,
});

export const VIRTUAL_MACHINES = resource('kubevirt.io/v1', 'VirtualMachine', 'virtualmachines');
export const VM_INSTANCES = resource('kubevirt.io/v1', 'VirtualMachineInstance', 'virtualmachineinstances');
export const MIGRATIONS = resource(
  'kubevirt.io/v1',
  'VirtualMachineInstanceMigration',
  'virtualmachineinstancemigrations',
);
export const KUBEVIRTS = resource('kubevirt.io/v1', 'KubeVirt', 'kubevirts');
export const SNAPSHOTS = resource('snapshot.kubevirt.io/v1beta1', 'VirtualMachineSnapshot', 'virtualmachinesnapshots');
export const RESTORES = resource('snapshot.kubevirt.io/v1beta1', 'VirtualMachineRestore', 'virtualmachinerestores');
export const CLONES = resource('clone.kubevirt.io/v1beta1', 'VirtualMachineClone', 'virtualmachineclones');
/** The only version of clones on KubeVirt 1.3 and 1.4. */
export const CLONES_V1ALPHA1 = { ...CLONES, apiVersion: 'clone.kubevirt.io/v1alpha1' };
export const EXPORTS = resource('export.kubevirt.io/v1beta1', 'VirtualMachineExport', 'virtualmachineexports');
export const CLUSTER_INSTANCETYPES = resource(
  'instancetype.kubevirt.io/v1beta1',
  'VirtualMachineClusterInstancetype',
  'virtualmachineclusterinstancetypes',
  false,
);
export const CLUSTER_PREFERENCES = resource(
  'instancetype.kubevirt.io/v1beta1',
  'VirtualMachineClusterPreference',
  'virtualmachineclusterpreferences',
  false,
);
export const INSTANCETYPES = resource(
  'instancetype.kubevirt.io/v1beta1',
  'VirtualMachineInstancetype',
  'virtualmachineinstancetypes',
);
export const DATA_VOLUMES = resource('cdi.kubevirt.io/v1beta1', 'DataVolume', 'datavolumes');
export const CDI_CONFIGS = resource('cdi.kubevirt.io/v1beta1', 'CDIConfig', 'cdiconfigs', false);
export const UPLOAD_TOKENS = resource('upload.cdi.kubevirt.io/v1beta1', 'UploadTokenRequest', 'uploadtokenrequests');
export const CDIS = resource('cdi.kubevirt.io/v1beta1', 'CDI', 'cdis', false);
export const VOLUME_SNAPSHOT_CLASSES = resource(
  'snapshot.storage.k8s.io/v1',
  'VolumeSnapshotClass',
  'volumesnapshotclasses',
  false,
);
export const STORAGE_CLASSES = resource('storage.k8s.io/v1', 'StorageClass', 'storageclasses', false);
export const STORAGE_CAPACITIES = resource('storage.k8s.io/v1', 'CSIStorageCapacity', 'csistoragecapacities');
export const STORAGE_PROFILES = resource('cdi.kubevirt.io/v1beta1', 'StorageProfile', 'storageprofiles', false);
export const NODES = resource('v1', 'Node', 'nodes', false);
export const NAMESPACES = resource('v1', 'Namespace', 'namespaces', false);
export const EVENTS = resource('v1', 'Event', 'events');
export const PODS = resource('v1', 'Pod', 'pods');
export const JOBS = resource('batch/v1', 'Job', 'jobs');
export const CLAIMS = resource('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
export const SECRETS = resource('v1', 'Secret', 'secrets');
export const SERVICES = resource('v1', 'Service', 'services');
export const POD_METRICS = resource('metrics.k8s.io/v1beta1', 'PodMetrics', 'pods');
export const NODE_METRICS = resource('metrics.k8s.io/v1beta1', 'NodeMetrics', 'nodes', false);
export const NETWORK_ATTACHMENTS = resource(
  'k8s.cni.cncf.io/v1',
  'NetworkAttachmentDefinition',
  'network-attachment-definitions',
);
/** The group of this service's own resources. Their definitions are in deploy/vm-service/crds. */
export const STORE_GROUP = 'svc.dev';
export const FOLDER_TREES = resource(`${STORE_GROUP}/v1`, 'FolderTree', 'foldertrees');
export const FOLDER_SHARDS = resource(`${STORE_GROUP}/v1`, 'FolderShard', 'foldershards');
export const SERVICE_TASKS = resource(`${STORE_GROUP}/v1`, 'ServiceTask', 'servicetasks');
export const SERVICE_TASK_MEMBERS = resource(`${STORE_GROUP}/v1`, 'ServiceTaskMembers', 'servicetaskmembers');
export const SERVICE_TOKENS = resource(`${STORE_GROUP}/v1`, 'ServiceToken', 'servicetokens');
export const SERVICE_SOURCES = resource(`${STORE_GROUP}/v1`, 'ServiceSource', 'servicesources');
export const SERVICE_SESSIONS = resource(`${STORE_GROUP}/v1`, 'ServiceSession', 'servicesessions');
export const SERVICE_LOGIN_ACCOUNTS = resource(`${STORE_GROUP}/v1`, 'ServiceLoginAccount', 'serviceloginaccounts');
export const SERVICE_DEVICE_LOGINS = resource(`${STORE_GROUP}/v1`, 'ServiceDeviceLogin', 'servicedevicelogins');
export const SERVICE_USER_GROUPS = resource(`${STORE_GROUP}/v1`, 'ServiceUserGroups', 'serviceusergroups');
export const SERVICE_VIEWS = resource(`${STORE_GROUP}/v1`, 'ServiceView', 'serviceviews');
export const SERVICE_ROLES = resource(`${STORE_GROUP}/v1`, 'ServiceRole', 'serviceroles');
export const SERVICE_SCHEDULES = resource(`${STORE_GROUP}/v1`, 'ServiceSchedule', 'serviceschedules');
export const SERVICE_SCHEDULED_SNAPSHOTS = resource(
  `${STORE_GROUP}/v1`,
  'ServiceScheduledSnapshots',
  'servicescheduledsnapshots',
);
export const SERVICE_MESSAGE_CHANNELS = resource(
  `${STORE_GROUP}/v1`,
  'ServiceMessageChannel',
  'servicemessagechannels',
);
export const SERVICE_MESSAGE_RULES = resource(`${STORE_GROUP}/v1`, 'ServiceMessageRule', 'servicemessagerules');
export const SERVICE_SSH_KEYS = resource(`${STORE_GROUP}/v1`, 'ServiceSshKey', 'servicesshkeys');
export const SERVICE_WEBHOOKS = resource(`${STORE_GROUP}/v1`, 'ServiceWebhook', 'servicewebhooks');
export const SERVICE_EVENTS = resource(`${STORE_GROUP}/v1`, 'ServiceEvents', 'serviceevents');
export const SERVICE_SAMPLES = resource(`${STORE_GROUP}/v1`, 'ServiceSamples', 'servicesamples');
export const SERVICE_REPLIES = resource(`${STORE_GROUP}/v1`, 'ServiceReply', 'servicereplies');
export const LEASES = resource('coordination.k8s.io/v1', 'Lease', 'leases');
export const ACCESS_REVIEWS = resource(
  'authorization.k8s.io/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
  false,
);

/** Names an object, one of its subresources, or the objects of a namespace. */
export interface ObjectPath {
  readonly namespace?: string;
  readonly name?: string;
  /** For example `status`. */
  readonly subresource?: string;
}

/** `/api/v1/…` for the core group, `/apis/<group>/<version>/…` for the others. */
const groupPath = (apiVersion: string): string => `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`;

export function pathOf(resource: Resource, { namespace, name, subresource }: ObjectPath = {}): string {
  const parts = [groupPath(resource.apiVersion)];
  if (resource.namespaced && namespace !== undefined) parts.push('namespaces', encodeURIComponent(namespace));
  parts.push(resource.plural);
  if (name !== undefined) parts.push(encodeURIComponent(name));
  if (subresource !== undefined) parts.push(subresource);
  return parts.join('/');
}

/** A KubeVirt action endpoint such as `virtualmachines/{name}/start`; the aggregated group has no collections. */
export const subresourcePath = (
  namespace: string,
  kind: 'virtualmachines' | 'virtualmachineinstances',
  name: string,
  action: string,
): string =>
  `/apis/subresources.kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}/${kind}/${encodeURIComponent(name)}/${action}`;
