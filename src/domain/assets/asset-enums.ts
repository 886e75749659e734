export const ASSET_TYPES = ['host', 'webapp', 'network', 'cloudaccount', 'mobileapp'] as const;
export const CRITICALITIES = ['high', 'medium', 'low', 'undefined'] as const;
export const WRITABLE_BY = ['client', 'boss', 'any'] as const;
