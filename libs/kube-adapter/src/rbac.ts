/** One rule of a Kubernetes role. */
export interface RbacRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]): RbacRule => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
});

/** The permissions that a store in a cluster needs in its namespace, besides the others. */
export const STORE_RBAC_RULES: readonly RbacRule[] = [
  rule('svc.dev', ['foldertrees', 'foldershards'], ['get', 'list', 'watch', 'create', 'update']),
  rule('svc.dev', ['servicetasks', 'servicetaskmembers'], ['get', 'list', 'watch', 'create', 'update', 'delete']),
  rule(
    'svc.dev',
    [
      'servicetokens',
      'servicesessions',
      'serviceloginaccounts',
      'servicedevicelogins',
      'serviceusergroups',
      'servicesources',
      'servicesshkeys',
      'serviceviews',
      'serviceroles',
      'serviceschedules',
      'servicescheduledsnapshots',
      'servicemessagechannels',
      'servicemessagerules',
      'servicewebhooks',
      'serviceevents',
      'servicesamples',
      'servicereplies',
    ],
    ['get', 'list', 'watch', 'create', 'update', 'delete'],
  ),
  rule('coordination.k8s.io', ['leases'], ['get', 'list', 'create', 'update', 'delete']),
];

/**
 * The permissions that builds of disks need besides the others, for a cluster whose configuration allows them. The
 * namespaces must also allow privileged pods.
 */
export const BUILD_RBAC_RULES: readonly RbacRule[] = [
  rule('batch', ['jobs'], ['get', 'list', 'watch', 'create', 'delete']),
  rule('', ['pods/log'], ['get']),
];

/** The permission that cordoning of nodes needs besides the others, for a cluster whose configuration allows it. */
export const NODE_RBAC_RULES: readonly RbacRule[] = [rule('', ['nodes'], ['patch'])];

/**
 * The permissions in the namespace of KubeVirt that disk and network of VMs need, for a cluster whose configuration
 * reads them from virt-handler. A proxy reaches every port of every pod there, so they are no part of the others.
 */
export const HANDLER_RBAC_RULES: readonly RbacRule[] = [
  rule('', ['pods'], ['list']),
  rule('', ['pods/proxy'], ['get']),
];

/** The part of the permissions that proofs of backups need in a namespace. */
export const PROOF_RBAC_RULES: readonly RbacRule[] = [
  rule('kubevirt.io', ['virtualmachines'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule('kubevirt.io', ['virtualmachineinstances'], ['get', 'list', 'watch']),
  rule('subresources.kubevirt.io', ['virtualmachineinstances/unpause'], ['update']),
  rule('subresources.kubevirt.io', ['virtualmachineinstances/console', 'virtualmachineinstances/vnc'], ['get']),
  rule('cdi.kubevirt.io', ['datavolumes'], ['get', 'list', 'watch', 'create']),
  rule('upload.cdi.kubevirt.io', ['uploadtokenrequests'], ['create']),
  rule('', ['persistentvolumeclaims'], ['get']),
];

/**
 * The permissions that this adapter needs, and no others. A test compares the manifests in `deploy/` with this list.
 */
export const RBAC_RULES: readonly RbacRule[] = [
  rule('kubevirt.io', ['virtualmachines'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule('kubevirt.io', ['virtualmachineinstances'], ['get', 'list', 'watch']),
  rule('kubevirt.io', ['virtualmachineinstancemigrations'], ['list', 'watch', 'create', 'delete']),
  rule('kubevirt.io', ['kubevirts'], ['list']),
  rule(
    'subresources.kubevirt.io',
    ['virtualmachines/start', 'virtualmachines/stop', 'virtualmachines/restart'],
    ['update'],
  ),
  rule('subresources.kubevirt.io', ['virtualmachines/addvolume', 'virtualmachines/removevolume'], ['update']),
  rule('subresources.kubevirt.io', ['virtualmachineinstances/pause', 'virtualmachineinstances/unpause'], ['update']),
  rule('subresources.kubevirt.io', ['virtualmachineinstances/console', 'virtualmachineinstances/vnc'], ['get']),
  rule('subresources.kubevirt.io', ['virtualmachineinstances/portforward'], ['get']),
  rule(
    'subresources.kubevirt.io',
    [
      'virtualmachineinstances/guestosinfo',
      'virtualmachineinstances/userlist',
      'virtualmachineinstances/filesystemlist',
    ],
    ['get'],
  ),
  rule('snapshot.kubevirt.io', ['virtualmachinesnapshots'], ['list', 'watch', 'create', 'patch', 'delete']),
  rule('snapshot.kubevirt.io', ['virtualmachinerestores'], ['list', 'watch', 'create', 'delete']),
  rule('clone.kubevirt.io', ['virtualmachineclones'], ['list', 'watch', 'create', 'delete']),
  rule('export.kubevirt.io', ['virtualmachineexports'], ['list', 'watch', 'create', 'delete']),
  rule(
    'instancetype.kubevirt.io',
    ['virtualmachineclusterinstancetypes', 'virtualmachineclusterpreferences', 'virtualmachineinstancetypes'],
    ['get', 'list', 'watch'],
  ),
  rule('cdi.kubevirt.io', ['datavolumes'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule('cdi.kubevirt.io', ['cdis'], ['list']),
  // The address of CDI's upload proxy.
  rule('cdi.kubevirt.io', ['cdiconfigs'], ['get']),
  rule('cdi.kubevirt.io', ['storageprofiles'], ['list']),
  rule('upload.cdi.kubevirt.io', ['uploadtokenrequests'], ['create']),
  rule('k8s.cni.cncf.io', ['network-attachment-definitions'], ['get', 'list']),
  rule('storage.k8s.io', ['storageclasses'], ['get', 'list']),
  rule('storage.k8s.io', ['csistoragecapacities'], ['list']),
  rule('snapshot.storage.k8s.io', ['volumesnapshotclasses'], ['list']),
  rule('', ['pods'], ['get', 'list', 'watch', 'create', 'delete']),
  rule('', ['persistentvolumeclaims'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  // Older releases check a WebSocket as `get`, newer ones as `create`.
  rule('', ['pods/exec'], ['get', 'create']),
  // The logs of containers.
  rule('', ['pods/log'], ['get']),
  rule('', ['secrets'], ['list', 'create', 'delete']),
  rule('', ['services'], ['list', 'delete']),
  // The exporter of a disk, for a service outside of the cluster.
  rule('', ['services/proxy'], ['get']),
  rule('', ['events'], ['list']),
  rule('', ['nodes'], ['get', 'list']),
  rule('metrics.k8s.io', ['pods', 'nodes'], ['list']),
  rule('', ['namespaces'], ['get', 'create']),
  rule('authorization.k8s.io', ['selfsubjectaccessreviews'], ['create']),
];
