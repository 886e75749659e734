import type { RegisterRoutes } from '../../http/area-plugin.ts';

export const registerAssetRoutes: RegisterRoutes = () => undefined;
