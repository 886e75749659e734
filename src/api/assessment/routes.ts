import type { RegisterRoutes } from '../../http/area-plugin.ts';

export const registerAssessmentRoutes: RegisterRoutes = () => undefined;
