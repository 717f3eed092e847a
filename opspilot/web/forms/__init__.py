"""Forms made from JSON Schemas: what a person is shown, what they typed as JSON, and what that changes. All pure."""
